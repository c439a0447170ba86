"""Ways to run a graph over a batch of instances; `reference` says what is right."""
