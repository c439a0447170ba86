"""Readings of a statement that another person may take another way: what the text says, what the programs do,
and whether an instance shows it."""
