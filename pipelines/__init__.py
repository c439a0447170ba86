"""Dagster wiring: which lines there are, their jobs, schedules and sensors, and `python -m
pipelines.evolve`."""
