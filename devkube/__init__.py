"""Kubernetes where you have none: development clusters that import no app and that no app imports."""
