"""Puzzles of several engines (routes, schedules, pictures, ...): each a module with its words, rules and
questions, and a generator and three programs that share no code under `templates`.
"""
