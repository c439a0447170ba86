"""The roles of the families line (`evolake.agents.roles`)."""
