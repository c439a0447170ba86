"""What people look at: where lines are, and the HTML report of a cycle. Reads the lake and nothing else."""
