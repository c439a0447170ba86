"""Planning, proposals, post-mortem, closing: what the stages of a cycle do."""
