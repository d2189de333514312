"""The supervisor behind `make demo` and the servers that the demo and the tests run on (architecture.md §4, §5)."""
