"""Queues: people who arrive, are in a line, are called by a rule, are served for a time, or go away."""
