"""Tools of a policy on this machine: a Python interpreter in the jail, and search over a local corpus."""
