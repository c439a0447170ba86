"""Verifiers that a dataset brings itself, for what more than one line scores: reasoning-gym's, run in the jail.

Host side: external (who asks). Inside the jail: gym (the driver), gym_preload (imported before it).
"""
