"""Evaluations in the jail: what runs there, and what is made of what comes back."""
