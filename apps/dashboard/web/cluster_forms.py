"""How somebody wants to sign in to a cluster, as the page sends it: pasted, uploaded, or in its parts.

What was typed into a secret's field is never sent back: the browser keeps it while fragments come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.clusters.domain.checklist import Verdict, verdict
from apps.clusters.domain.checklist_rows import Check
from apps.clusters.domain.kubeconfig import Chosen, read_kubeconfig
from apps.clusters.domain.kubeconfig_faults import refusal
from apps.clusters.domain.sign_in import SignIn
from apps.clusters.domain.yaml_tree import LARGEST
from apps.kernel.errors import Refusal, Refused
from apps.kernel.text import say
from apps.ui.fields import FieldForm

SHOWN = ("name", "namespace_prefix", "way", "server", "verify", "context")
BY_KUBECONFIG, BY_PARTS = "kubeconfig", "parts"
LABELS = {
    "name": gettext_lazy("Name"),
    "namespace_prefix": gettext_lazy("Namespace prefix"),
    "kubeconfig": gettext_lazy("Kubeconfig"),
    "context": gettext_lazy("Context"),
    "server": gettext_lazy("API address"),
    "token": gettext_lazy("Bearer token"),
    "ca": gettext_lazy("CA certificates (PEM)"),
}


@dataclass(slots=True)
class Entered:
    """What was sent; ``sign_in`` None when it cannot be used, the reasons then stand in ``form``."""

    form: FieldForm
    sign_in: SignIn | None = None
    context: str = ""
    contexts: Sequence[str] = ()

    def refuse(self, found: Refusal) -> None:
        """Put a refusal at the fields that the reader sees: what is wrong and what to do are one message there."""
        for path, sentences in found.fields.items():
            inside = self.form.value("way") == BY_KUBECONFIG and path in {"server", "token", "ca"}
            self.form.add("kubeconfig" if inside else path, [_one(sentences)])
        if not found.fields:
            self.form.add("", [found.detail])


def blank(**values: str) -> FieldForm:
    """The form as it is first shown."""
    return FieldForm({"namespace_prefix": "platform", "way": BY_KUBECONFIG, "verify": "on"} | values)


def read_sign_in(request: HttpRequest, *, now: datetime) -> Entered:
    """How to sign in by what was posted."""
    given = request.POST
    entered = Entered(FieldForm({name: _text(request, name) for name in SHOWN}, words=LABELS))
    if given.get("way") == BY_PARTS:
        server, token = _text(request, "server").rstrip("/"), _text(request, "token")
        entered.sign_in = SignIn(server, token, given.get("ca", "").strip() or None, verify=bool(given.get("verify")))
        return entered
    found = _kubeconfig(request, now=now)
    if isinstance(found, Chosen):
        entered.sign_in, entered.context, entered.contexts = found.sign_in, found.context, found.contexts
    else:
        names = found.numbers.get("contexts")
        entered.contexts = [str(name) for name in names] if isinstance(names, list) else ()
        entered.refuse(found)
    return entered


def looked_at(entered: Entered, look: Callable[[SignIn], tuple[Check, ...]]) -> tuple[Check, ...]:
    """The check list of what was entered; none where it cannot even be asked, and then the form says why."""
    if entered.sign_in is None:
        return ()
    try:
        return look(entered.sign_in)
    except Refused as refused:
        entered.refuse(refused.refusal)
        return ()


def taken(wish: str, checks: Sequence[Check]) -> bool:
    """Whether the reader wants it kept, and it may be: warnings pass, doubts only when ``save-anyway`` is pressed."""
    if not checks:
        return False
    wished = {"save": {Verdict.FITS}, "save-anyway": set(Verdict) - {Verdict.UNFIT}}
    return verdict(checks) in wished.get(wish, set())


def _one(sentences: Sequence[str]) -> str:
    """The first sentence, and what to do instead where that follows."""
    joined = say(_("%(what)s. %(instead)s"), what=sentences[0], instead=sentences[-1])
    return joined if len(sentences) > 1 else sentences[0]


def _kubeconfig(request: HttpRequest, *, now: datetime) -> Chosen | Refusal:
    text, file = request.POST.get("kubeconfig", ""), request.FILES.get("kubeconfig_file")
    if file is not None and not text.strip():
        if (file.size or 0) > LARGEST:
            return refusal("too_large", limit=LARGEST)
        try:
            text = file.read().decode()
        except UnicodeDecodeError:
            return refusal("not_yaml", line=1)
    if not text.strip():
        message = _("paste a kubeconfig, or choose its file")
        empty = refusal("no_kubeconfig")
        return Refusal(empty.code, message, {"kubeconfig": [message]})
    return read_kubeconfig(text, now=now, context=_text(request, "context"))


def _text(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\x00", "").strip()
