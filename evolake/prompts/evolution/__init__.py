"""One iteration and one training cycle of the population."""
