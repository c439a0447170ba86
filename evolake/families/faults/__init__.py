"""Planted faults, and which gate catches each."""
