"""Objectives of designs: programs that score them, and the consensus of their rankings."""
