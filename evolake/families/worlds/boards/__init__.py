"""Boards: a figure moves over cells with walls, pushes things about, and comes to cells where more happens,
by rules."""
