"""Real Kubernetes on this machine: the real programs, built from their published Go modules, as context managers."""
