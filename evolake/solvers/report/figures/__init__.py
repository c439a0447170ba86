"""The figures of the solvers line, one per module, from its archive and the lake (`material.Material`) to PNG
bytes."""
