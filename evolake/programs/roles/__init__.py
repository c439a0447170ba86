"""The roles of the line: one writes a program from its parents."""
