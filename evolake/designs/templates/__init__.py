"""Design files that are written or shown as they are: traced in the jail, never imported."""

from __future__ import annotations

from evolake.lines import folder_of


def template(name: str) -> str:
    """Return the text of the design file of that name."""
    return (folder_of(__name__) / f"{name}.py").read_text(encoding="utf-8")
