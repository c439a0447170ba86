"""`evolake families show`: a family with its idea and verdicts, by the beginning of its id, and all
attempts."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from evolake.families.commands.exporting import show
from evolake.families.report.story import attempt_lines, attempts, family_lines, family_report
from evolake.families.tables import CANDIDATES, IDEAS
from evolake.lake import Lake
from evolake.lake.schemas import VERDICTS, side_table

FIRST, SECOND = "abcdef01" + "0" * 56, "abcdef02" + "0" * 56
IDEA = {
    "cycle": "0001",
    "number": 0,
    "operator": "invented",
    "outcome": "blocked",
    "title": "Twin clocks",
    "reason": "consensus: votes differ",
}


@pytest.fixture
def lake(tmp_path) -> Lake:
    made, stored = Lake(tmp_path / "lake"), {"cycle": "0001", "run_id": "r"}
    family = {
        "state": "blocked",
        "cycle": "0001",
        "title": "Twin clocks",
        "category": "temporal",
        "language": "en",
        "operator": "invented",
        "origin": "model",
        "parents": [],
        "gate": "consensus",
        "rule_id": "families-consensus",
        "reason": "votes differ",
        "instances": None,
    }
    rows = [family | {"family_id": name} for name in (FIRST, SECOND)]
    made.publish("families", "candidates", CANDIDATES.frame(rows), schema=CANDIDATES, **stored)
    ideas = [IDEA | {"family_id": FIRST, "idea": "When do both show the same?"}]
    ideas += [
        IDEA
        | {
            "family_id": None,
            "number": 1,
            "outcome": "unmade",
            "title": None,
            "idea": None,
            "reason": "no programs",
        }
    ]
    made.publish("families", "ideas", IDEAS.frame(ideas), schema=IDEAS, **stored)
    verdict = {
        "artifact_id": FIRST,
        "cycle": "0001",
        "gate_no": 3,
        "gate": "consensus",
        "rule_id": "families-consensus",
        "outcome": "block",
    }
    verdicts = [verdict | {"reason": "votes differ", "run_id": "r"}]
    made.publish(
        "families", side_table("candidates", VERDICTS), VERDICTS.frame(verdicts), schema=VERDICTS, **stored
    )
    return made


def test_a_family_is_shown_with_its_idea_and_its_verdicts(lake):
    report = family_report(lake, FIRST[:8])
    assert report is not None and report["idea"] == "When do both show the same?"
    assert family_lines(report) == [
        FIRST,
        "  title     Twin clocks (temporal, en)",
        "  state     blocked, made in cycle 0001 by model, invented",
        "  idea      When do both show the same?",
        "  parents   none",
        "  blocked   consensus: votes differ",
        "  gate      consensus: block families-consensus votes differ",
    ]


def test_an_id_that_is_too_short_unknown_or_of_two_families_names_none(lake):
    assert [family_report(lake, wanted) for wanted in ("", "abcdef0", "abcdef03", FIRST[:7])] == [None] * 4


def test_all_attempts_are_listed_also_those_that_brought_no_family(lake):
    assert attempt_lines(attempts(lake)) == [
        "0001  abcdef010000  blocked   Twin clocks: When do both show the same? (consensus: votes differ)",
        "0001                unmade    invented (no programs)",
    ]


def test_the_command_prints_json_and_names_what_it_does_not_know(lake, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake.root))

    def shown(*words: str) -> Any:
        return CliRunner().invoke(show, list(words), standalone_mode=False)

    assert json.loads(shown(FIRST[:8], "--json").stdout)["family_id"] == FIRST
    assert len(json.loads(shown("--json").stdout)["attempts"]) == 2
    assert shown(SECOND).stdout.startswith(SECOND)
