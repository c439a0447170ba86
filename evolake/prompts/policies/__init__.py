"""Models that answer: endpoint or local, and their training."""
