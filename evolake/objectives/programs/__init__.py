"""Objectives as programs: typed expressions over what a design's results say, drawn, varied and crossed, and
written as objective files.

A program is an expression of kind "number" (`expression`). `compose` writes it as an objective file, the only
form in which it is ever stored or run, and reads it back from one; `evaluate` gives the same numbers without
a file. `drawing` and `genetic` make new ones, `behaviour` turns them so that fewer steps are better and finds
those that rank alike, `counterparts` says what the families of templates look at in these terms.

What may be read is what an objective file is shown of one design: a row per size, with median steps, the
share unsolved and limits. Of other designs, of parameters, age, seeds and time it is shown nothing, so that
no program can rank by them; the ranks come from the consensus.
"""
