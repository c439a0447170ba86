"""Objective families, one file each: the parameters as constants on top, and `objective(levels)`, of what `levels.read_levels` gives.

`evolake.objectives.source` cuts these files and the helpers of `levels` they use into self-contained source text with other constants.
"""
