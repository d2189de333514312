"""The real plane of this folder's tests."""

from tests.support.kubernetes import http, nodes, plane, tools

__all__ = ["http", "nodes", "plane", "tools"]
