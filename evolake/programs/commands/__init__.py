"""`evolake programs`."""
