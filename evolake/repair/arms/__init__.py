"""One trial: what each arm may see, who proposes, what it may spend."""
