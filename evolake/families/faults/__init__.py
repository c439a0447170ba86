"""Planted faults, and which gate catches each: a measure of the gates of SSLogic, section 3.3."""
