"""Answers of all kinds, read from text and compared: what the gates of families and every reward call equal. Standard library only."""
