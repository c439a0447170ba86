"""The figures of the prompts line, one per module, from the lake (`material.Material`) to PNG bytes."""
