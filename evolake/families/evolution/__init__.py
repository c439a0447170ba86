"""Proposals, refinement, records: what the stages of a cycle do."""
