"""Timed runs: benchmark, duel, metrics."""
