"""Designs as terms of a grammar, and the genetic operators on them."""
