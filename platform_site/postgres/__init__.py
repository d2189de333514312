"""Django's PostgreSQL backend with a pool that recovers from a restart of the server in one step."""
