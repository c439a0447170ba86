"""The puzzle engines, in the order in which they are drawn."""

from __future__ import annotations

from evolake.families.worlds.puzzles import (
    cards,
    chain,
    days,
    field,
    game,
    jobs,
    liars,
    numbers,
    picture,
    rewriting,
    routes,
    urn,
)

PUZZLES = (
    routes.PUZZLE,
    jobs.PUZZLE,
    picture.PUZZLE,
    numbers.PUZZLE,
    rewriting.PUZZLE,
    game.PUZZLE,
    urn.PUZZLE,
    liars.PUZZLE,
    field.PUZZLE,
    days.PUZZLE,
    chain.PUZZLE,
    cards.PUZZLE,
)
"""Puzzles of several engines (routes, schedules, pictures, ...): each a module with its words, rules and
questions, and a generator and three programs that share no code under `templates`; those with many correct
answers have two checkers as well.
"""
