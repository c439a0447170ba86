"""What assets are given by Dagster: the lake, the agents, the jail, compute. Each opens lazily, so that
loading definitions costs nothing."""
