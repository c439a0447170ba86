"""Sizes and limits of each line: what a profile sets and the environment overrides. One file a line."""
