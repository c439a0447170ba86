"""The study's figures, one a module."""
