"""The puzzle engines, in the order in which they are drawn."""

from __future__ import annotations

from evolake.families.worlds.puzzles import field, game, jobs, liars, numbers, picture, rewriting, routes, urn

PUZZLES = (routes.PUZZLE, jobs.PUZZLE, picture.PUZZLE, numbers.PUZZLE, rewriting.PUZZLE, game.PUZZLE, urn.PUZZLE, liars.PUZZLE, field.PUZZLE)
