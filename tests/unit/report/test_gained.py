"""What is said to be gained: of the lake at hand, or recorded with date, command and page; and the sentence
of a run on proposals that came to nothing."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evolake.cli import cli
from evolake.lake import Lake
from evolake.lines import lines
from evolake.programs.tables import FAILED_PROPOSALS
from evolake.report.artifacts import Exhibit
from evolake.report.gained import LOOK, Gained, gains, recorded
from evolake.report.outcome import failed_proposals
from evolake.report.pages import page
from evolake.report.story import Story
from evolake.solvers.tuning.tables import VERDICTS

ROOT = Path(__file__).resolve().parents[3]


def evolake(root: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, words, env={"EVOLAKE_LAKE": str(root)}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("line", recorded())
def test_a_recorded_result_names_its_date_its_command_and_a_page_that_has_its_figures(line):
    known = recorded()[line]
    assert line in lines()
    assert datetime.date.fromisoformat(known.date)
    text = (ROOT / known.source).read_text(encoding="utf-8")
    for _, *values in known.bars:
        assert [value for value in values if f"{value:.2f}".rstrip("0").rstrip(".") not in text] == []
    assert known.command in str(Gained(line, known.sentence, known))


def test_an_empty_lake_has_gained_nothing_and_a_study_speaks_for_its_line(tmp_path):
    lake = Lake(tmp_path / "lake")
    assert "Start with: evolake run" in evolake(lake.root, "status", "--gains")
    row = dict.fromkeys(VERDICTS.columns) | {
        "tuning": "minisat22-0", "solver": "minisat22", "formulas_path": "multipliers", "verdict": "better",
        "options": ["-no-luby"], "kinds": "one", "settings": 3, "formulas": 10, "unseen": 10,
        "ratio": 2.0, "ratio_low": 1.5, "ratio_high": 2.5, "timeout_s": 2.0, "default_s": 1.0, "race_s": 9.0,
        "duel_s": 1.0, "settings_sha": "", "runs_sha": "",
    }  # fmt: skip
    lake.publish(
        "tunings", "verdicts", VERDICTS.frame([row]), cycle="minisat22-0", run_id="r", schema=VERDICTS
    )
    [only] = gains(lake)
    assert str(only) == (
        "solvers: minisat22 -no-luby: 2 times lower cost than its default (95 % 1.5 to 2.5) on 10 unseen "
        "formulas"
    )
    assert evolake(lake.root, "status", "--gains").splitlines() == [str(only), LOOK]
    [row] = json.loads(evolake(lake.root, "status", "--gains", "--json"))["gains"]
    assert row == {"line": "solvers", "gained": only.sentence, "recorded": None}
    assert gains(lake, ["programs"]) == []
    assert evolake(tmp_path / "other", "status", "--gains", "--lake", str(lake.root)).startswith(str(only))
    text = page([], [Story("solvers", "0001")], {"tunings": ["what it found"]}, gains=[only])
    assert '<a href="#tunings">solvers</a>' in text and '<article id="tunings">' in text
    assert "<span>-no-luby:</span>" in text


def test_the_page_leads_with_gains_marks_recorded_ones_and_folds_gates_and_verdicts():
    own = Gained("programs", "from <1> to 2", exhibit=Exhibit({"circles": b"png"}, {"lines": "a < b"}, "why"))
    known = recorded()["designs"]
    stories = [Story("programs", "0001", measured="24 evaluations")]
    text = page([], stories, gains=[own, Gained("designs", known.sentence, known)])
    gained, table, folded = (
        text.index(word) for word in ("from &lt;1&gt;", 'class="lines"', "24 evaluations")
    )
    assert gained < text.index(f"Recorded on {known.date}") < table < text.index("<details>") < folded
    assert 'alt="circles"' in text and "a &lt; b" in text and "why" in text
    assert text.count("11.4 (10 to 13.1)") == 1


def test_a_run_says_how_many_proposals_came_to_no_candidate_and_warns_from_a_third_on(tmp_path):
    lake = Lake(tmp_path / "lake")
    rows = [
        {"number": number, "cycle": "0001", "project": "p", "generation": 0, "reason": reason, "idea": "",
         "operator": "model", "parent_id": ""}
        for number, reason in enumerate(["no code block", "no code block", "does not parse"])
    ]  # fmt: skip
    schema = FAILED_PROPOSALS
    lake.publish("programs", "unmade", schema.frame(rows), cycle="0001", run_id="r", schema=schema)
    assert failed_proposals(lake, {"programs": ["0001"], "designs": ["0001"]}) == [
        "WARNING: programs: 3 of 3 proposals came to no candidate; 2 of them: no code block"
    ]
    assert failed_proposals(lake, {"programs": []}) == []
