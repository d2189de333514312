"""Defaulting and validation of each kind, in the API server's own words."""
