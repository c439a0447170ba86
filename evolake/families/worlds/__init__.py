"""Worlds: new kinds of puzzles, drawn from tables of constraints, rules and questions; no sentence of any
other family is in them."""

NAMES = ("constraint_world", "process_world", "puzzle_world")
"""Operators that draw a world. What they make has no parent."""
