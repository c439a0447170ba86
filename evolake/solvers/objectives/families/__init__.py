"""Objective families of the solvers line: one file each, every file an objective as it could stand alone, with its parameters as constants on top.

`evolake.objectives.source` cuts these files and the helpers of `runs` they use into self-contained source text with other constants.
"""
