"""The database backend named in the settings (``ENGINE``): Django's own but for how its pool finds dead connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import psycopg
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    """A wrapper whose pool throws out all dead connections as soon as it meets the first."""

    # Django's own, which its type stubs do not know.
    _connection_pools: ClassVar[dict[str, ConnectionPool[Any]]]
    _configure_connection: Callable[[psycopg.Connection[Any]], None]

    @property
    def pool(self) -> ConnectionPool[Any] | None:
        options = self.settings_dict["OPTIONS"].get("pool")
        if options and self.alias != NO_DB_ALIAS and self.alias not in self._connection_pools:
            made = ConnectionPool(
                kwargs=self.get_connection_params() | {"autocommit": True},
                open=False,
                configure=self._configure_connection,
                check=check_and_sweep,
                **options,
            )
            # Of several threads that come here at once the first one's pool stays; none has been opened yet.
            self._connection_pools.setdefault(self.alias, made)
        pool: ConnectionPool[Any] | None = super().pool
        return pool


def check_and_sweep(connection: psycopg.Connection[Any]) -> None:
    """Raise psycopg.Error for a connection that is dead, after looking at every other idle one of its pool.

    The pool itself tries one idle connection after the other with a pause that doubles each time: after a restart of
    PostgreSQL nine idle connections would cost the next caller its whole time limit.
    """
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error:
        pool: ConnectionPool[Any] | None = getattr(connection, "_pool", None)
        if pool is not None:
            pool.check()
        raise
