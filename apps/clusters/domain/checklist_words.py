"""The check list in words: a sentence for each row, what to do about it, and the exact command where there is one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.clusters.domain.checklist_rows import Check
from apps.clusters.domain.rights import why
from apps.kernel.text import Said, say
from apps.kernel.text import say as _

TITLES: Mapping[str, Said] = {
    "api": _("API reachable"),
    "certificate": _("Certificate"),
    "clock": _("Clock"),
    "credentials": _("Credentials"),
    "kubernetes": _("Kubernetes"),
    "capability": _("Kinds of task"),
    "right": _("Rights"),
    "priority_class": _("PriorityClasses"),
    "storage": _("Storage classes"),
    "nodes": _("Nodes"),
    "mark": _("Node labels"),
    "cards": _("Cards without a mark"),
    "identity": _("Identity"),
}
SENTENCES: Mapping[str, Said] = {
    "reached": _("%(address)s answers."),
    "bad_address": _("This is no API address."),
    "name_unknown": _("The name %(host)s is not known here."),
    "refused": _("%(address)s is there, but nothing listens on this port."),
    "timed_out": _("%(address)s did not answer within %(seconds)s s."),
    "no_answer": _("%(address)s does not answer: %(text)s"),
    "no_tls": _("On this machine itself, so plain http is fine."),
    "certificate": _("Valid for this address until %(until)s."),
    "certificate_soon": _("Valid until %(until)s: %(days)s days are left."),
    "certificate_unchecked": _("Not checked: whoever stands between could read the token."),
    "not_tls": _("This port speaks no TLS; perhaps it is a plain http server."),
    "other_host": _("The certificate is for %(names)s, not for %(address)s."),
    "certificate_expired": _("The certificate expired on %(until)s."),
    "certificate_early": _("The certificate is not valid yet."),
    "unknown_authority": _("The certificate is signed by “%(issuer)s”, which is not trusted here."),
    "untrusted": _("The certificate cannot be trusted: %(text)s"),
    "clock": _("Within %(seconds)s s of ours."),
    "clock_off": _("%(seconds)s s off ours: times would be shown wrong, and certificates and tokens may fail."),
    "signed_in": _("Accepted."),
    "signed_in_until": _("Accepted; good until %(until)s."),
    "credentials_soon": _("Accepted, but only until %(until)s; then the platform is locked out."),
    "credentials_refused": _("The cluster does not know these credentials (401)."),
    "credentials_unusable": _("The credentials cannot be used: %(text)s"),
    "kubernetes": _("Version %(version)s."),
    "redirect": _("The address answers with a redirect, which is not followed: credentials go nowhere else."),
    "too_large": _("The answer was larger than %(limit)s MiB and was not read to its end."),
    "too_slow": _("The answer took longer than %(seconds)s s and was not waited for."),
    "not_kubernetes": _("What answers here is no Kubernetes API: %(text)s"),
    "server_fault": _("The server answered with an error (%(status)s): %(text)s"),
    "forbidden": _("The account may not ask for this: %(text)s"),
    "no_reviews": _("The server does not tell what the account may do; missing rights show when they are needed."),
    "identity": _("%(uid)s"),
    "another_cluster": _(
        "Another cluster answers than before: tasks that run on the old one would be lost from sight."
    ),
    "already_added": _("This is the cluster “%(cluster)s”, which is here already: its cards would count twice."),
    "served": _("%(kind)s"),
    "not_served": _("%(kind)s is missing (%(api)s): the platform cannot run tasks here."),
    "operator_missing": _("%(kind)s is not offered (%(api)s); other kinds of task run."),
    "allowed": _("%(verb)s %(resource)s"),
    "denied": _("%(verb)s %(resource)s is not allowed: %(why)s."),
    "class": _("%(class)s = %(value)s"),
    "class_missing": _("%(class)s is missing; the platform makes it with its next check."),
    "class_differs": _("%(class)s is another than ours: %(found)s instead of %(wanted)s."),
    "storage": _("%(count)s, new volumes get %(default)s."),
    "storage_no_default": _("%(count)s, but none is the default: volumes that name no class wait for ever."),
    "storage_none": _("None: persistent volumes cannot be made here."),
    "nodes": _("%(count)s, %(ready)s of them ready."),
    "nodes_none": _("None: nothing can run here yet."),
    "nodes_unready": _("%(count)s, none of them ready: nothing can run here yet."),
    "mark": _("%(mark)s: %(count)s nodes, %(cards)s cards."),
    "mark_absent": _("%(mark)s: no node here has its labels."),
    "cards_unlabelled": _(
        "%(resource)s on nodes with the labels of no mark, so nobody gets them: %(nodes)s (%(count)s)."
    ),
    "cards_without_mark": _("%(resource)s, for which there is no mark, so nobody gets them: %(nodes)s (%(count)s)."),
}
REMEDIES: Mapping[str, Said] = {
    "bad_address": _("Give an address such as https://10.0.0.1:6443."),
    "name_unknown": _("Check the spelling, or give the address in numbers."),
    "refused": _("Check the port; most clusters listen on 6443 or 443. See the right one with:"),
    "timed_out": _("Look for a firewall between this server and the cluster."),
    "no_answer": _("Check the address and the network between this server and the cluster."),
    "certificate_soon": _("Renew the API server's certificate; on kubeadm:"),
    "certificate_unchecked": _("Give the cluster's CA certificate instead. It stands in:"),
    "not_tls": _("Give the API server's https port. See it with:"),
    "other_host": _("Give the address by one of these names, or have this one put into the certificate."),
    "certificate_expired": _("Renew the API server's certificate; on kubeadm:"),
    "certificate_early": _("Compare this server's clock with that of the cluster."),
    "unknown_authority": _("Give the cluster's CA certificate. It stands in:"),
    "untrusted": _("Give the cluster's CA certificate. It stands in:"),
    "clock_off": _("Let both sides keep time by NTP. On the node:"),
    "credentials_soon": _("Rotate to a token that stays. Print a kubeconfig with one:"),
    "credentials_refused": _("Make the account and print a kubeconfig for it:"),
    "credentials_unusable": _("Rotate the credentials."),
    "redirect": _("Give the API server's own address, not that of a portal before it. See it with:"),
    "too_large": _("Check that the address is an API server's and look for objects with giant annotations."),
    "too_slow": _("Look at the API server's load and at the network."),
    "not_kubernetes": _("Give the API server's address. See it with:"),
    "server_fault": _("Look at the API server's log."),
    "not_served": _("Check that the address is that of a Kubernetes API server."),
    "operator_missing": _("Install its operator when such tasks shall run here; the next check finds it."),
    "forbidden": _("Give the account its rights:"),
    "denied": _("Give the account its rights:"),
    "another_cluster": _("Give this cluster's own credentials; go on only if it was built anew."),
    "already_added": _("Rotate that one's credentials instead."),
    "class_differs": _("Let the platform make it anew (a class's value cannot be changed):"),
    "storage_no_default": _("Make one the default:"),
    "storage_none": _("Install a storage driver, such as Ceph CSI or the local path provisioner."),
    "nodes_none": _("Join a node to the cluster."),
    "nodes_unready": _("See what ails them:"),
    "cards_unlabelled": _("Give each the labels of its mark, such as:"),
    "cards_without_mark": _("Add a mark for these cards in the admin panel."),
}
SEE_ADDRESS = "kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}'"
SEE_CA = (
    "kubectl config view --raw --minify -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d"
)
APPLY = "kubectl apply -f deploy/rbac/platform.yaml"
RENEW = "kubeadm certs renew apiserver"
LABEL = "kubectl label node %(node)s %(labels)s"
COMMANDS: Mapping[str, str] = {
    "refused": SEE_ADDRESS,
    "not_tls": SEE_ADDRESS,
    "redirect": SEE_ADDRESS,
    "not_kubernetes": SEE_ADDRESS,
    "certificate_soon": RENEW,
    "certificate_expired": RENEW,
    "certificate_unchecked": SEE_CA,
    "unknown_authority": SEE_CA,
    "untrusted": SEE_CA,
    "clock_off": "timedatectl set-ntp true",
    "credentials_soon": f"{APPLY} && sh deploy/rbac/kubeconfig.sh",
    "credentials_refused": f"{APPLY} && sh deploy/rbac/kubeconfig.sh",
    "forbidden": APPLY,
    "denied": APPLY,
    "class_differs": "kubectl delete priorityclass %(class)s",
    "storage_no_default": "kubectl annotate storageclass %(first)s storageclass.kubernetes.io/is-default-class=true",
    "cards_unlabelled": LABEL,
    "nodes_unready": "kubectl describe nodes",
}


PLACEHOLDER = re.compile(r"%\((\w+)\)")


@dataclass(frozen=True, slots=True)
class Explained:
    """A row for people; without ``remedy`` there is nothing to do, without ``command`` nothing to type."""

    check: Check
    title: Said
    sentence: Said
    remedy: Said | None
    command: str


def explained(check: Check) -> Explained:
    """The row in words; one that this program does not know is shown by its token."""
    known = SENTENCES.get(check.token)
    sentence = say(check.token)
    if known is not None:
        sentence = say(known.template, **_values(known.template, {n: _shown(v) for n, v in check.numbers.items()}))
    asked = COMMANDS.get(check.token, "")
    command = asked % _values(asked, {name: _quoted(name, value) for name, value in check.numbers.items()})
    return Explained(check, TITLES.get(check.name, say(check.name)), sentence, REMEDIES.get(check.token), command)


def _values(template: str, numbers: Mapping[str, object]) -> dict[str, object]:
    """What the template asks for; a row that an older program stored may lack some of it."""
    asked = PLACEHOLDER.findall(template)
    values = {name: numbers.get(name, "…") for name in asked}
    if "why" in values:
        values["why"] = why(str(numbers.get("group", "")), str(numbers.get("resource"))) or "…"
    return values


def _shown(value: object) -> object:
    return (
        ", ".join(str(part) for part in value) if isinstance(value, Sequence) and not isinstance(value, str) else value
    )


def _quoted(name: str, value: object) -> str:
    """Names come from the cluster and the command is meant to be pasted, so nothing in them is ever run.

    Labels are several words, one for each.
    """
    words = str(value).split(",") if name == "labels" else [str(value)]
    return " ".join(shlex.quote(word) for word in words)
