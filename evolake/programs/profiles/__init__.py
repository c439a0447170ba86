"""Sizes of the line by profile."""
