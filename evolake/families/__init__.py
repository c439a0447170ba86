"""Verifiable task families: generator, statement and validators that evolve behind gates.

`contract` says what a family is and how families compose; `model.family_files` and `sandbox.foreign` read them; `running`
takes them through the jail; `judging` takes them through the gates.
"""
