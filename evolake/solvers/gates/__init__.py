"""Compliance, build, smoke, correctness, stability."""
