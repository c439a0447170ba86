"""A generator around a generator."""

part = None
__body__ = None
# --- program ---

make = part()


def input(difficulty):
    __body__
