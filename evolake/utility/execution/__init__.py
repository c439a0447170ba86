"""What runs: problems are drawn, cells are trained and evaluated, each step noted."""
