"""A problem of integer feasibility, and an answer to it."""
