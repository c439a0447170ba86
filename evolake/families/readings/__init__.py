"""Readings of a statement that somebody else may take another way: what the text says, what the programs do, and
whether an instance shows it."""
