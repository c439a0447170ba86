"""What a study finds, from its result rows alone."""
