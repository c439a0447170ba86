"""The roles of the designs line: what is asked, what comes back, the classical answer (paper, section S5).

A role is defined in the module of its operators, with its request and reply (in `models` if several share
them) and its prompt file `evolake/<line>/messages/<name>.md`; `evolake.agents.roles.roles_in` finds it. Its
name is also the key under which a model may be chosen for it (`EVOLAKE_MODELS__DESIGNS_DESIGNER`). Fields
that only the operators use are not among a prompt's values.
"""
