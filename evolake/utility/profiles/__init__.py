"""The sizes of each profile."""
