"""A small Kubernetes API server, scheduler and controllers in one process (architecture.md §5)."""
