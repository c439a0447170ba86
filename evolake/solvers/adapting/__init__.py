"""Propose an adapter for a solver's upstream tree, from what is found in it, and try it."""
