"""Verifiers in addition to our own reader, run in the jail: reasoning-gym's, a user's own function, and
math-verify.

Host side: external and own (who ask). Inside the jail: gym (the driver), gym_preload (imported before it),
math_verify_scorer.
"""
