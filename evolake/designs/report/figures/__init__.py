"""The figures of the designs line, one per module, from its archive and consensus (`material.Material`) to
PNG bytes."""
