"""Fetches upstream solvers and lays them out."""
