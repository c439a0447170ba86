"""Planning, proposals, gates, experiments, objectives, champions: what the stages of a cycle do."""
