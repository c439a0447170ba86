"""Grammars next to the open one, found by listing: each module here has a `GRAMMAR`. Remove one, and nothing
else changes."""
