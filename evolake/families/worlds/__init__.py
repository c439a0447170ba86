"""Worlds: new kinds of puzzles, drawn from tables of constraints, rules and questions; no sentence of any other family is in them."""
