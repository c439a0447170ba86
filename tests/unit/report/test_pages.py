"""Pages: what a candidate, a model or a lake says is text on every page of every line, and no module writes
markup past the templates."""

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from evolake.designs.evolution.attempts import ConsensusWinner
from evolake.designs.report import page as designs
from evolake.families.dataset.difficulty import work_of
from evolake.families.report import page as families
from evolake.families.report.material import QUESTIONS, FamiliesReport
from evolake.families.tables import COMPLEXITY
from evolake.lake import ARTIFACTS, CHAMPIONS, Lake, side_table
from evolake.lines import lines
from evolake.repair.report.result_tables import Shown
from evolake.report import pages
from evolake.report.champion import Champion
from evolake.report.finished_cycle import FinishedCycle, questions
from evolake.report.gain import Gain
from evolake.report.lines import any_section
from evolake.report.pages import Section, page, plain, render, sentence
from evolake.report.story import Story
from evolake.stats import Interval

EVIL = "<script>alert('1')</script>"
SAFE = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"
ROOT = Path(__file__).resolve().parents[3]
PACKAGES = [ROOT / name for name in ("evolake", "assets", "resources", "pipelines")]
TAG = re.compile(
    r"</(?:a|b|body|code|div|h[1-6]|head|html|i|li|ol|p|pre|section|span|style|table|td|th|title|tr|ul)>|"
    r"<(?:img|meta|!doctype) "
)


def evil(*columns: str, **more: Any) -> pl.DataFrame:
    """One row of markup."""
    return pl.DataFrame([dict.fromkeys(columns, EVIL) | more])


def holds_only_text(markup: str, times: int) -> bool:
    """Whether the markup was put in at least so often, and always as text."""
    return "<script" not in markup and markup.count(SAFE) >= times


def test_a_design_s_title_source_and_reasons_are_text(monkeypatch, tmp_path):
    frames = {name: evil("title", EVIL) for name in (*questions(designs.PACKAGE, "page.sql"), "ancestry")}
    frames |= {
        "decisions": evil("comparison", "reason"),
        "consensus": evil("cycle"),
        "expected": evil(inside=True),
    }
    columns = (
        "part",
        "title",
        "design_id",
        "N",
        "batch",
        "seed",
        "median_step",
        "median_work",
        "work_per_step",
        "unsolved_fraction",
        "solved",
    )
    frames |= {"trials": evil("profile", *columns)}
    lake = Lake(tmp_path)
    sha = lake.blobs.put(EVIL.encode())
    champion = {"title": EVIL, "design_id": "d" * 64, "source_sha": sha}
    population = SimpleNamespace(designs=pl.DataFrame(), row=lambda _: champion)
    gain = Gain(Interval(2.0, 1.0, 3.0, 0.95), "fewer median steps", "b", EVIL, "0001", True)
    held = Champion("designs", "d" * 64, "design", EVIL, sha, "0001", "0001", 0.1, 0, gain)
    winner = ConsensusWinner("e" * 64, EVIL, False, EVIL)
    report = FinishedCycle(lake, "designs", "0001", held, EVIL, frames)
    monkeypatch.setattr(designs, "read_cycle", lambda *_: report)
    monkeypatch.setattr(designs, "read_population", lambda *_: population)
    monkeypatch.setattr(designs, "consensus_winner", lambda *_: winner)
    monkeypatch.setattr(pages, "draw_figures", lambda *_: {})
    monkeypatch.setattr(
        pages, "by_place", lambda *_: {"figures": {EVIL: b"png"}, "supplement": {EVIL: b"png"}}
    )
    kinds = (
        "parameters",
        "terms",
        "lineage",
        "fits",
        "by_size",
        "weights",
        "agreement",
        "kinds",
        "objectives",
    )
    monkeypatch.setattr(designs, "supplement", lambda *_: dict.fromkeys(kinds, evil("text")))
    made = designs.designs_section(tmp_path, "0001")
    assert holds_only_text(made.headline, 2)
    assert holds_only_text(made.body, 32)
    assert plain(made.headline).startswith(
        f"The champion, since cycle 0001, is {EVIL} (dddddddddddd): 2.0 times fewer"
    )


def test_a_family_s_title_text_label_and_reasons_are_text(monkeypatch, tmp_path):
    population: Any = SimpleNamespace(
        rows=lambda *_: [{"operator": EVIL}], experience=evil("number", "cycle", "item")
    )
    frames = {name: evil("title", EVIL) for name in QUESTIONS}
    frames |= {
        "measured": COMPLEXITY.empty(),
        "made": pl.DataFrame([{"cycle": "0001", "accepted": 1, "attempts": 1}]),
        "resources": evil("outcome", jail_calls=1.0, cpu_s=1.0, wall_s=1.0, usd=1.0),
        "reviews": pl.DataFrame({"matches": [0], "families": [1]}),
        "blocked": evil("gate", "rule_id", "example", blocked=1),
        "costs": pl.DataFrame({"usd": [0.0]}),
        "labels": pl.DataFrame([dict.fromkeys(("instances", "by_majority", "unanimous", "texts"), 1)]),
    }
    example = {
        "operator": EVIL,
        "title": EVIL,
        "family_id": EVIL,
        "category": EVIL,
        "difficulty": 1,
        "text": EVIL,
        "answer": f'"{EVIL}"',
        "votes": 3,
        "voters": 3,
    }
    frames["examples"] = pl.DataFrame([example])
    report = FamiliesReport(
        tables=frames,
        population=population,
        duplicates=[],
        drift=evil("cycle", "family"),
        kills=evil("fault", "expected", caught=0, planted=1),
        grades=pl.DataFrame(),
        work=work_of([(EVIL, EVIL, [(1, 5.0), (3, 9.0)])]),
        asked=pl.DataFrame(),
    )
    shared = FinishedCycle(Lake(tmp_path), "families", "0001", None, EVIL, frames)
    monkeypatch.setattr(families, "read_cycle", lambda *_: shared)
    monkeypatch.setattr(families, "families_report", lambda _: report)
    monkeypatch.setattr(pages, "draw_figures", lambda *_: {})
    made = families.families_section(tmp_path, "0001")
    assert holds_only_text(made.body, 20)
    assert "<b>1 families</b> passed" in made.headline


def test_a_prompt_its_edits_and_what_they_are_called_are_text():
    champion = {"prompt_id": EVIL, "operator": EVIL, "size": 1, "mu": 1.0, "sigma": 1.0}
    gain = Gain(
        Interval(0.5, 0.1, 0.9, 0.95),
        "more correct replies",
        "r",
        EVIL,
        "0001",
        True,
        against=EVIL,
        is_ratio=False,
    )
    held = Champion("prompts", EVIL, "system prompt", EVIL, EVIL, "0001", "0001", 0.1, 0, gain)
    report = SimpleNamespace(held=held, cycle="0001")
    lead = sentence(
        "evolake.prompts.report", "headline.html.j2", report=report, champion=champion, no_gain=EVIL
    )
    assert holds_only_text(lead, 3)
    asked = dict.fromkeys(
        ("matches", "updates", "edits", "reasons", "duels", "blocked", "sources", "ancestry"), evil("reason")
    )
    body = render(
        "evolake.prompts.report",
        "section.html.j2",
        report=report,
        feed=False,
        headline=lead,
        placed={"figures": {EVIL: b""}},
        tables=asked,
        prompts=evil("prompt"),
        held=evil("prompt"),
        principles=EVIL,
        editors=[EVIL],
        policies=[EVIL],
        arms=[EVIL],
    )
    assert holds_only_text(body, 16)


def test_what_a_study_says_is_text():
    shown = [Shown(EVIL, EVIL, EVIL, (EVIL, EVIL), ((EVIL, EVIL),))]
    body = render(
        "evolake.repair.report",
        "study.html.j2",
        study={"study_sha": EVIL, "root_seed": EVIL},
        question=EVIL,
        setting=EVIL,
        caution=EVIL,
        headline=EVIL,
        answers=[EVIL],
        tables=shown,
        is_significant=lambda *_: True,
        figures={EVIL: b""},
    )
    assert holds_only_text(body, 16)


def test_a_line_without_a_section_of_its_own_is_text_too_and_so_is_the_page_around_it(monkeypatch, tmp_path):
    monkeypatch.setattr("evolake.report.finished_cycle.finished", lambda root, *_: Lake(root))
    lake = Lake(tmp_path)
    row = {
        "artifact_id": "aaa",
        "line": "other",
        "kind": "k",
        "cycle": "0001",
        "state": "champion",
        "content_sha": "c",
        "title": EVIL,
    }
    crown = {"line": "other", "cycle": "0001", "artifact_id": "aaa", "score": 1.0}
    for schema, content in ((ARTIFACTS, row), (CHAMPIONS, crown)):
        lake.publish(
            "other",
            side_table("survivors", schema),
            schema.frame([content]),
            cycle="0001",
            run_id="r",
            schema=schema,
        )
    made = any_section(tmp_path, "other", "0001")
    assert holds_only_text(made.headline, 1)
    assert holds_only_text(page([made, Section(EVIL, EVIL, made.headline, made.body, {})]), 4)
    assert holds_only_text(
        page([], [Story(EVIL, "0001", unanswered={"0001": EVIL})], {EVIL: [EVIL, EVIL]}), 7
    )


def test_a_headline_that_no_template_made_is_text(tmp_path):
    body = render(
        "evolake.report", "any_line.html.j2", line="x", cycle="1", headline=EVIL, tables={EVIL: evil(EVIL)}
    )
    assert holds_only_text(body, 4)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, "<td></td>"),
        (True, "<td>yes</td>"),
        (False, "<td>no</td>"),
        (1234, '<td class="n">1,234</td>'),
        (0.25, '<td class="n">0.25</td>'),
        (11 / 24, '<td class="n">0.458</td>'),
        (0.00012345, '<td class="n">0.000123</td>'),
        (1234.5, '<td class="n">1,234</td>'),
        (10**9, '<td class="n">1000000000</td>'),
        ("a" * 64, f'<td><code title="{"a" * 64}">{"a" * 12}</code></td>'),
        ("x" * 400, f"<td>{'x' * 400}</td>"),
        ("x" * 1400, f"<td>{'x' * 999}…</td>"),
        (date(2026, 1, 2), "<td>2026-01-02</td>"),
        ([1, 2], "<td>[1, 2]</td>"),
        (float("nan"), '<td class="n">nan</td>'),
    ],
)
def test_a_cell_is_written_by_what_it_holds(value, cell):
    frame = pl.DataFrame({"some_name": [value]})
    body = render("evolake.report", "any_line.html.j2", line="x", cycle="1", headline="", tables={"t": frame})
    assert cell in body
    assert "some name</th>" in body


def found_in(paths: Sequence[Path], pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.name}: {result[0]}"
        for path in paths
        for result in [pattern.search(path.read_text())]
        if result
    ]


def test_no_module_writes_markup():
    modules = [path for package in PACKAGES for path in package.rglob("*.py")]
    assert len(modules) > 400
    assert found_in([path for path in modules if path.name != "pages.py"], TAG) == []
    assert (
        found_in(
            [path for path in modules if path.name != "pages.py"],
            re.compile(r"\bMarkup\(|html\.escape|import html\b"),
        )
        == []
    )


def test_no_template_lets_anything_through():
    templates = [*(ROOT / "evolake").rglob("templates/*.j2"), *(ROOT / "tests").rglob("templates/*.j2")]
    reports = [ROOT / "evolake" / name / "report" for name in lines()]
    assert {path.parent.parent for path in templates} >= {path for path in reports if path.is_dir()}
    assert found_in(templates, re.compile(r"\|\s*safe\b|autoescape|Markup|<script|(?:src|href)=\"http")) == []
