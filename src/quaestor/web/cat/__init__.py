"""Quaestor as the adaptive engine of a delivery system: the REST binding of Computer Adaptive Testing (CAT) 1.0 by 1EdTech."""

PREFIX = "/ims/cat/v1p0"
