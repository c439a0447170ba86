"""Runs a solver on a formula; which cores it may have."""
