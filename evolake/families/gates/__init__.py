"""Evidence on a family and the checkers that judge it: execution, static, consensus, blind."""
