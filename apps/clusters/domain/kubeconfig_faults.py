"""Every reason for which a kubeconfig is not taken, in words, with what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

from apps.kernel.errors import Code, Refusal
from apps.kernel.text import Said, say
from apps.kernel.text import say as _

TOKEN_INSTEAD = _(
    "Make a token for the platform instead: kubectl apply -f deploy/rbac/platform.yaml, then"
    " sh deploy/rbac/kubeconfig.sh prints a kubeconfig that can be pasted here."
)
FLATTEN = _("Write the content into the text itself: kubectl config view --raw --flatten --minify.")
WHOLE = _("Paste the whole output of: kubectl config view --raw --flatten --minify.")
RENEW = _("Take a fresh kubeconfig of this cluster.")
CHOOSE = _("Choose one of the contexts in the text.")
HTTPS = _("Give an address such as https://10.0.0.1:6443.")

# token → the sentence (its values are the refusal's numbers) and what to do instead.
FAULTS: Mapping[str, tuple[Said, Said]] = {
    "too_large": (_("a kubeconfig may have at most 256 KiB"), WHOLE),
    "not_yaml": (_("this is not YAML (line %(line)d)"), WHOLE),
    "aliases": (_("YAML aliases are not taken (line %(line)d)"), FLATTEN),
    "too_deep": (_("this is nested too deeply (line %(line)d)"), WHOLE),
    "too_many": (_("this has too many entries (line %(line)d)"), WHOLE),
    "twice": (_("“%(name)s” stands twice (line %(line)d)"), WHOLE),
    "documents": (_("this is more than one document (line %(line)d)"), WHOLE),
    "no_kubeconfig": (_("this is not a kubeconfig: it has no clusters and users"), WHOLE),
    "no_contexts": (_("this kubeconfig has no context"), WHOLE),
    "several_contexts": (_("there are %(count)d contexts and none of them is the current one"), CHOOSE),
    "unknown_context": (_("there is no context “%(name)s”"), CHOOSE),
    "no_cluster": (_("the context “%(context)s” names a cluster that is not in the text"), WHOLE),
    "no_user": (_("the context “%(context)s” names a user that is not in the text"), WHOLE),
    "exec": (_("the user “%(user)s” signs in by a program (exec), which would run on our server"), TOKEN_INSTEAD),
    "auth_provider": (
        _("the user “%(user)s” signs in by an auth-provider, which would run on our server"),
        TOKEN_INSTEAD,
    ),
    "file": (_("%(field)s names a file, which would be read on our server"), FLATTEN),
    "password": (_("the user “%(user)s” signs in by user name and password"), TOKEN_INSTEAD),
    "impersonation": (_("the user “%(user)s” acts in another's name (%(field)s)"), TOKEN_INSTEAD),
    "proxy": (
        _("the cluster is reached through a proxy (proxy-url), and credentials go to the cluster alone"),
        _("Give an address that this server reaches directly."),
    ),
    "no_server": (_("the cluster has no API address (server)"), WHOLE),
    "bad_server": (_("the cluster's API address (server) cannot be used"), HTTPS),
    "server_with_user": (_("the API address has a user name or password in it"), TOKEN_INSTEAD),
    "plain_http": (_("the API address begins with http, which would send credentials in the clear"), HTTPS),
    "bad_server_name": (
        _("tls-server-name is no host name"),
        _("Give the name that stands in the server's certificate."),
    ),
    "insecure_with_ca": (
        _("insecure-skip-tls-verify and certificate-authority-data exclude each other"),
        _("Leave insecure-skip-tls-verify out: then the certificate is checked."),
    ),
    "ca_not_pem": (_("certificate-authority-data holds no certificates in PEM form"), FLATTEN),
    "ca_expired": (_("the cluster's certificate authority expired on %(expired)s"), RENEW),
    "client_not_pem": (_("client-certificate-data holds no certificate in PEM form"), FLATTEN),
    "client_expired": (_("the client certificate expired on %(expired)s"), RENEW),
    "client_not_yet": (
        _("the client certificate is not valid yet"),
        _("Compare this server's clock with that of the machine that signed the certificate."),
    ),
    "key_not_pem": (_("client-key-data holds no private key in PEM form"), FLATTEN),
    "key_locked": (
        _("the private key has a passphrase"),
        _("Give the key without a passphrase, or a kubeconfig from sh deploy/rbac/kubeconfig.sh."),
    ),
    "key_of_another": (_("the private key does not belong to the client certificate"), RENEW),
    "no_credentials": (_("the user has neither a token nor a client certificate"), TOKEN_INSTEAD),
    "bad_token": (_("the token is no bearer token: printable characters without spaces are needed"), TOKEN_INSTEAD),
}
CODES = {"too_large": Code.TOO_LARGE}
OF_THE_CONTEXT = frozenset({"several_contexts", "unknown_context"})


def refusal(token: str, **numbers: object) -> Refusal:
    """The refusal of that token: REST shows it as ``reason`` beside the numbers, pages show both sentences."""
    sentence, instead = FAULTS[token]
    told = say(sentence.template, **numbers)
    field = "context" if token in OF_THE_CONTEXT else "kubeconfig"
    return Refusal(CODES.get(token, Code.INVALID), told, {field: [told, instead]}, {"reason": token, **numbers})
