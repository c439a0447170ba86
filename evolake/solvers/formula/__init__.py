"""Formulas, models, answers."""
