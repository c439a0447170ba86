"""Golomb rulers: marks on a line, no two pairs of which are the same distance apart; the shorter the
better."""
