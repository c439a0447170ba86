"""Verifiable task families: generator, statement and validators that evolve behind gates.

`model.contract` says what a family is and how families compose; `model.family_files` and
`sandbox.foreign` read them; `sandbox.running` takes them through the jail; `gates.judging` takes them
through the gates.
"""
