"""The roles of the solvers line (`evolake.agents.roles`). Source: SATLUTION (arXiv 2509.07367), sections on
the planning and coding agents and on rule evolution."""
