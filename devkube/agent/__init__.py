"""A node agent: registers nodes and runs their pods' containers as local processes, speaking only the Kubernetes API.

What a real kubelet does and this one cannot: images, mounts and network of their own. A container's command runs on
this machine in a folder of its own; a volume is a folder whose path stands in `DEVKUBE_MOUNT_<NAME>`.
"""
