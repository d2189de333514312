"""The scheduler: which pod goes to which node, and whom it may displace."""
