"""Puzzles of several engines (routes, schedules, pictures, ...), each in a Markdown file."""
