"""Lists cut into pages: the later pages show the same moment as the first."""

import base64
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from devkube.embedded import clock
from devkube.embedded.errors import bad_request, expired
from devkube.embedded.store import Entry

MOST = 64
SECONDS = 300.0
TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list"
    " without the continue parameter."
)


@dataclass(slots=True)
class Page:
    """What is left of a list at version `rv`."""

    rv: int
    entries: list[Entry]
    until: float = 0.0


@dataclass(slots=True)
class Snapshots:
    """The bounded memory of unfinished lists."""

    kept: OrderedDict[str, Page] = field(default_factory=OrderedDict)

    def save(self, page: Page) -> str:
        """Keep the rest of a list; returns its continue token."""
        token = base64.urlsafe_b64encode(f"v1:{page.rv}:{secrets.token_hex(12)}".encode()).decode()
        page.until = clock.monotonic() + SECONDS
        self.kept[token] = page
        while len(self.kept) > MOST:
            self.kept.popitem(last=False)
        return token

    def load(self, token: str) -> Page:
        """Return the rest of a list; raises ApiError 400, 410."""
        page = self.kept.get(token)
        if page is not None and page.until > clock.monotonic():
            return page
        try:
            known = base64.urlsafe_b64decode(token.encode()).startswith(b"v1:")
        except ValueError:
            known = False
        if not known:
            raise bad_request("continue key is not valid: illegal base64 data or unknown version")
        raise expired(TOO_OLD)
