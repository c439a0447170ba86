"""The line's rules, one file each."""
