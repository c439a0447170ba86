"""The four arms of the comparison."""
