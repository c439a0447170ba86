"""The solvers line's objectives: ways to judge a variant by its benchmark runs, and their consensus."""
