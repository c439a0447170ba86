"""The figures of the programs line, one per module."""
