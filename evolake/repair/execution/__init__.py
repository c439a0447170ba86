"""A whole study: its record, its cells, and running them."""
