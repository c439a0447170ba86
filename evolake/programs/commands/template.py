"""What `evolake programs new` writes: a function to be fitted, scored apart from the program that fits it."""

from __future__ import annotations

from importlib import resources

FILES = {
    name: resources.files("evolake.programs.commands").joinpath("example", name).read_text(encoding="utf-8")
    for name in ("initial_program.py", "evaluator.py", "project.toml")
}
"""Path below the project's folder -> its text."""
