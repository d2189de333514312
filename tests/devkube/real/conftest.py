"""The real plane of this folder's tests."""

from tests.support.kubernetes import container_node, http, nodes, plane, tools

__all__ = ["container_node", "http", "nodes", "plane", "tools"]
