"""The programs line in the report."""
