"""The roles of the prompts line (`evolake.agents.roles`)."""
