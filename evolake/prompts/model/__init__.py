"""Prompts, their edits, the library, problems and the protocol of an answer."""
