"""A line that has nothing to do is no failure of a run of all lines, and a plain error where it was named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from designs_fixtures import ROOT

from assets.line import Line
from assets.programs import line
from evolake.errors import InputError
from pipelines.evolve import runnable


@pytest.fixture
def other() -> Line:
    return Line("other", "Always something to do.")


def test_without_a_project_the_line_is_skipped_and_named_it_is_an_error(tmp_path, monkeypatch, other):
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path))
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.delenv("EVOLAKE_PROGRAMS__PROJECTS", raising=False)
    said: list[str] = []
    assert runnable([other, line], "all", said.append, require_all=True) == [other]
    assert len(said) == 1 and said[0].startswith("programs: skipped. There is no project.")
    with pytest.raises(InputError, match="the line 'programs' has nothing to do"):
        runnable([line], "programs", said.append, require_all=False)
    monkeypatch.setenv("EVOLAKE_PROGRAMS__PROJECTS", str(ROOT / "examples" / "programs" / "circle_packing"))
    assert runnable([other, line], "all", said.append, require_all=True) == [other, line]
    monkeypatch.setenv("EVOLAKE_PROGRAMS__PROJECTS", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="there is no project folder"):
        runnable([other, line], "all", said.append, require_all=True)


def test_a_line_has_something_to_do_unless_it_says_otherwise(other):
    assert other.idle() is None
    assert replace(other, idle=lambda: "no.").idle() == "no."
