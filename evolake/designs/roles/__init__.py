"""The roles of the designs line (`evolake.agents.roles`; paper, section S5)."""
