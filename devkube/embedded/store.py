"""All objects of the cluster: in memory for reading, in SQLite for the next start, with a history for watches."""

import fcntl
import sqlite3
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import orjson

from devkube.embedded.objects import Obj
from devkube.embedded.resources import STORED, Resource

Key: TypeAlias = tuple[str, str]

HISTORY = 4000


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored version; `obj` is never changed in place."""

    obj: Obj
    raw: bytes
    rv: int


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a resource's history."""

    rv: int
    kind: str
    entry: Entry
    before: Entry | None


Listener: TypeAlias = Callable[[Change], None]


class Store:
    """Every write gets the next resourceVersion of one counter and is durable before its change is announced.

    It belongs to one thread. `kept` bounds the history per resource (changes).
    """

    def __init__(self, folder: Path, kept: int = HISTORY) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._kept = kept
        self._objects: dict[str, dict[Key, Entry]] = {resource.key: {} for resource in STORED}
        self._history: dict[str, deque[Change]] = defaultdict(deque)
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._indexes: dict[str, list[Listener]] = defaultdict(list)
        self._pending: list[tuple[str, Change]] | None = None
        self._db = self._open(folder / "objects.sqlite")
        self.rv = self._load()
        self._horizon = dict.fromkeys(self._objects, self.rv)

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        # The system keeps what a killed process wrote; only a power cut could lose the last moments.
        db.execute("PRAGMA synchronous=OFF")
        db.execute(
            "CREATE TABLE IF NOT EXISTS objects (resource TEXT, namespace TEXT, name TEXT, rv INTEGER, data BLOB,"
            " PRIMARY KEY (resource, namespace, name)) WITHOUT ROWID"
        )
        db.execute("CREATE TABLE IF NOT EXISTS counter (one INTEGER PRIMARY KEY CHECK (one = 1), rv INTEGER)")
        db.execute("INSERT OR IGNORE INTO counter VALUES (1, 1)")
        return db

    def _load(self) -> int:
        for key, namespace, name, rv, data in self._db.execute("SELECT * FROM objects"):
            if key in self._objects:
                self._objects[key][(namespace, name)] = Entry(orjson.loads(data), data, rv)
        return int(self._db.execute("SELECT rv FROM counter").fetchone()[0])

    def close(self) -> None:
        """Write everything out and let another process take the folder."""
        self._db.close()
        self._lock.close()

    # -- reading -----------------------------------------------------------------------------------------------------

    def get(self, resource: Resource, namespace: str, name: str) -> Entry | None:
        """Return the present version of one object."""
        return self._objects[resource.key].get((namespace, name))

    def entries(self, resource: Resource, namespace: str = "") -> list[Entry]:
        """Return the objects of a resource in the order of their keys."""
        table = self._objects[resource.key]
        keys = sorted(key for key in table if key[0] == namespace) if namespace else sorted(table)
        return [table[key] for key in keys]

    def objects(self, resource: Resource, namespace: str = "") -> Iterator[Obj]:
        """Yield the objects of a resource, in no particular order; do not write while reading."""
        for key, entry in self._objects[resource.key].items():
            if not namespace or key[0] == namespace:
                yield entry.obj

    def changes_since(self, resource: Resource, rv: int) -> list[Change] | None:
        """Return the changes after `rv`, or None when they are no longer all kept."""
        if rv < self._horizon[resource.key]:
            return None
        history = self._history[resource.key]
        start = bisect_right(history, rv, key=lambda change: change.rv)
        return list(islice(history, start, None))

    # -- writing -----------------------------------------------------------------------------------------------------

    def put(self, resource: Resource, obj: Obj) -> Entry:
        """Store a new version (the object is stamped with its resourceVersion) and announce it."""
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
        meta = obj["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        before = self._objects[resource.key].get(key)
        self.rv += 1
        meta["resourceVersion"] = str(self.rv)
        entry = Entry(obj, orjson.dumps(obj), self.rv)
        with self.batch():
            row = (resource.key, *key, self.rv, entry.raw)
            self._db.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)", row)
            self._objects[resource.key][key] = entry
            self._announce(resource, Change(self.rv, "MODIFIED" if before else "ADDED", entry, before))
        return entry

    def remove(self, resource: Resource, namespace: str, name: str) -> Entry | None:
        """Remove an object and announce it; the announced object carries the version of its removal."""
        before = self._objects[resource.key].pop((namespace, name), None)
        if before is None:
            return None
        self.rv += 1
        obj = {**before.obj, "metadata": {**before.obj["metadata"], "resourceVersion": str(self.rv)}}
        entry = Entry(obj, orjson.dumps(obj), self.rv)
        with self.batch():
            self._db.execute(
                "DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?", (resource.key, namespace, name)
            )
            self._announce(resource, Change(self.rv, "DELETED", entry, before))
        return entry

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make several writes durable together: after a kill either all of them are there or none."""
        if self._pending is not None:
            yield
            return
        self._pending = []
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("UPDATE counter SET rv = ?", (self.rv,))
            self._db.execute("COMMIT")
            changes, self._pending = self._pending, None
            for key, change in changes:
                self._deliver(key, change)

    def _announce(self, resource: Resource, change: Change) -> None:
        for index in self._indexes[resource.key]:
            index(change)
        if self._pending is not None:
            self._pending.append((resource.key, change))

    def _deliver(self, key: str, change: Change) -> None:
        history = self._history[key]
        history.append(change)
        while len(history) > self._kept:
            self._horizon[key] = history.popleft().rv
        for listener in list(self._listeners[key]):
            listener(change)

    # -- listening ---------------------------------------------------------------------------------------------------

    def index(self, resource: Resource, listener: Listener) -> None:
        """Call `listener` with each change at once, before it is durable: for what mirrors the objects."""
        self._indexes[resource.key].append(listener)

    def listen(self, resource: Resource, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each durable change; returns the way to stop."""
        listeners = self._listeners[resource.key]
        listeners.append(listener)
        return lambda: listeners.remove(listener) if listener in listeners else None
