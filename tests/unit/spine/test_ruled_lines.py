"""Which lines edited rules are tried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from evolake.errors import InputError
from evolake.report.ruled import ruled_lines
from evolake.settings import default_lake_root

RULES = default_lake_root() / "seeds" / "rules"


class Begun:
    """A lake in which these lines have begun."""

    def __init__(self, *names: str):
        self.names, self.root, self.seals = names, Path("lake"), self

    def lines(self) -> tuple[str, ...]:
        return self.names


def test_a_line_that_is_named_is_tried_alone_and_else_all_that_have_begun():
    lake = Begun("solvers", "families")
    assert ruled_lines(lake, RULES, "solvers") == ["solvers"]  # pyright: ignore[reportArgumentType]
    assert sorted(ruled_lines(lake, RULES)) == ["families", "solvers"]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="holds nothing of the line 'designs'"):
        ruled_lines(lake, RULES, "designs")  # pyright: ignore[reportArgumentType]
