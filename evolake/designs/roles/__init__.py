"""What the agents of the line are asked and reply."""
