"""Kubernetes' objects (and compose's services): what they say of the pods that consume."""
