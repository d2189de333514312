"""Posts the CRI log files of a node agent in the exact shape of Vector's `kubernetes_logs` source and `http` sink.

What differs from Vector, on purpose: a read position is saved only after the receiver has answered 2xx, so nothing is
lost when the shipper dies, and a pod's metadata is found even when the pod is gone (the agent keeps it beside the log).
"""
