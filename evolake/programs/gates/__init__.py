"""The gates of a program: what they look at, and what their rules ask."""
