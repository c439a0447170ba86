"""What is about the lake itself rather than about one line: rule files as observable source assets."""

from assets.lake.rules import observation, observe_rules, rules_asset

__all__ = ["observation", "observe_rules", "rules_asset"]
