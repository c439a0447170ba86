"""The study on the command line."""
