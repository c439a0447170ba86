"""Genomes of the paper's grammar: terms of its best design and their relatives."""
