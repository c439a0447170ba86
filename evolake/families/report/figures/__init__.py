"""The figures of the families line, one per module, from its report (`FamiliesReport`) to PNG bytes."""
