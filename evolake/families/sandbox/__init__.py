"""Runs families in the jail."""
