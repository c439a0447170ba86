"""Operators that make a family of one or two others: what evolves is the task family, not its instances
(SSLogic, sections 2.2 and 3.2)."""
