"""The roles of the solvers line: what is asked, what comes back, the classical answer. Source: SATLUTION
(arXiv 2509.07367), sections on the planning and coding agents and on rule evolution.

A role is defined in the module of its operators, with its request and reply (in `models` if several share
them) and its prompt file `evolake/<line>/messages/<name>.md`; `evolake.agents.roles.roles_in` finds it. Its
name is also the key under which a model may be chosen for it (`EVOLAKE_MODELS__SOLVERS_CODER`). Fields that
only the operators use are not among a prompt's values.
"""
