"""Ratings, selection, scores, duels."""
