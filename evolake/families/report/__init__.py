"""The line's section of the report, and its figures."""
