"""The repair study: whether solver-grounded feedback to a model beats more attempts."""
