"""A design's Python text becomes a graph, in the jail."""
