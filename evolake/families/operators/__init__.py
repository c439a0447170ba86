"""Operators that make a family of one or two others."""
