"""Every question of the cookbook, asked of a small lake whose answers are known; and the rules that the files
keep."""

from datetime import UTC, datetime

import polars as pl
import pytest

from evolake.cli.sql import all_tables
from evolake.lake import (
    AGENT_CALLS,
    ARTIFACTS,
    CHAMPIONS,
    CHECKS,
    DERIVATIONS,
    EVALUATIONS,
    RULES,
    VERDICTS,
    Catalogue,
    Lake,
    TableSchema,
    side_table,
)
from evolake.lake.catalogue import SQL_ROOT
from evolake.lake.compact import compact

COOKBOOK = SQL_ROOT / "cookbook"
NOON = datetime(2026, 1, 1, tzinfo=UTC)


def publish(
    lake: Lake,
    asset: str,
    schema: TableSchema,
    cycle: str | None,
    run: str,
    columns: str,
    *rows: tuple,
    line: str = "designs",
) -> None:
    frame = schema.frame(dict(zip(columns.split(), row, strict=True)) for row in rows)
    lake.publish(line, side_table(asset, schema), frame, cycle=cycle, run_id=run, schema=schema)


def artifacts(
    lake: Lake, asset: str, cycle: str | None, run: str, *rows: tuple, line: str = "designs"
) -> None:
    whole = [(line, cycle or "0000", run, NOON, *row) for row in rows]
    publish(
        lake,
        asset,
        ARTIFACTS,
        cycle,
        run,
        "line cycle run_id created_at artifact_id state content_sha kind title",
        *whole,
        line=line,
    )


@pytest.fixture(scope="module", params=["as it was written", "compacted"])
def lake(request, tmp_path_factory) -> Lake:
    """Two cycles of designs: seeds s1, s2; cycle 1 makes a (accepted) and b (blocked late); cycle 2 makes c,
    the champion, and d (blocked early)."""
    lake = Lake(tmp_path_factory.mktemp("lake"))
    edge = "child_id parent_id operator weight cycle"
    judged = "artifact_id cycle gate_no gate rule_id rule_version outcome reason"
    called = (
        "call_id artifact_id cycle role backend model input_tokens cached_tokens output_tokens usd "
        "latency_s attempt status"
    )

    artifacts(
        lake,
        "seeds",
        None,
        "run0",
        ("s1", "accepted", "S1", "design", "baseline"),
        ("s2", "accepted", "S2", "design", "340"),
    )
    artifacts(
        lake,
        "candidates",
        "0001",
        "run1",
        ("a", "accepted", "A", "design", "gate"),
        ("b", "blocked", "B", "design", "warp"),
    )
    publish(
        lake,
        "candidates",
        DERIVATIONS,
        "0001",
        "run1",
        edge,
        ("a", "s1", "add-gate", 1.0, "0001"),
        ("b", "s1", "swap", 1.0, "0001"),
    )

    first = [
        ("a", "0001", 1, "contract", "R1", "1", "pass", ""),
        ("a", "0001", 2, "trace", "R2", "1", "pass", ""),
        ("b", "0001", 1, "contract", "R1", "1", "pass", ""),
        ("b", "0001", 2, "trace", "R2", "1", "pass", "by the old rule"),
    ]
    publish(lake, "candidates", VERDICTS, "0001", "run1", judged, *first)
    second = [
        ("a", "0001", 1, "contract", "R1", "1", "pass", ""),
        ("a", "0001", 2, "trace", "R2", "2", "pass", ""),
        ("b", "0001", 1, "contract", "R1", "1", "pass", ""),
        ("b", "0001", 2, "trace", "R2", "2", "block", "an operator off the list"),
    ]
    publish(lake, "candidates", VERDICTS, "0001", "run1b", judged, *second)
    publish(
        lake,
        "candidates",
        AGENT_CALLS,
        "0001",
        "run1",
        called,
        ("k1", "a", "0001", "designer", "model", "m", 100, 0, 10, 0.5, 1.0, 0, "ok"),
        ("k2", "b", "0001", "designer", "model", "m", 200, 50, 20, 1.5, 3.0, 1, "truncated"),
        ("k3", None, "0001", "planner", "model", "m", 10, 0, 1, 0.25, 2.0, 0, "ok"),
    )
    publish(
        lake,
        "candidates",
        AGENT_CALLS,
        "0001",
        "run1b",
        called,
        ("k1", "a", "0001", "designer", "model", "m", 100, 0, 10, 0.0, 0.0, 0, "replayed"),
        ("k2", "b", "0001", "designer", "model", "m", 200, 50, 20, 0.0, 0.0, 1, "replayed+truncated"),
        ("k3", None, "0001", "planner", "model", "m", 10, 0, 1, 0.0, 0.0, 0, "replayed"),
    )

    artifacts(
        lake,
        "candidates",
        "0002",
        "run2",
        ("c", "accepted", "C", "design", "best"),
        ("d", "blocked", "A", "design", "copy"),
    )
    publish(
        lake,
        "candidates",
        DERIVATIONS,
        "0002",
        "run2",
        edge,
        ("c", "a", "graft", 0.75, "0002"),
        ("c", "b", "graft", 0.25, "0002"),
        ("d", "s2", "swap", 1.0, "0002"),
    )
    publish(
        lake,
        "candidates",
        VERDICTS,
        "0002",
        "run2",
        judged,
        ("c", "0002", 1, "contract", "R1", "1", "pass", ""),
        ("c", "0002", 2, "trace", "R2", "2", "pass", ""),
        ("d", "0002", 1, "contract", "R1", "1", "block", "no HYPER_SPACE"),
    )
    publish(
        lake,
        "candidates",
        AGENT_CALLS,
        "0002",
        "run2",
        called,
        ("k4", "c", "0002", "designer", "operators", None, 0, 0, 0, 0.0, 0.0, 0, "ok"),
    )
    artifacts(lake, "survivors", "0002", "run2", ("c", "champion", "C", "design", "best"))
    publish(
        lake,
        "survivors",
        CHAMPIONS,
        "0001",
        "run1",
        "line cycle artifact_id score",
        ("designs", "0001", "a", 0.5),
    )
    publish(
        lake,
        "survivors",
        CHAMPIONS,
        "0002",
        "run2",
        "line cycle artifact_id score",
        ("designs", "0002", "c", 0.1),
    )
    publish(
        lake,
        "experiments",
        EVALUATIONS,
        "0002",
        "run2",
        "artifact_id suite instance seed status certificate",
        ("c", "low", "n10", 1, "solved", None),
        ("c", "low", "n14", 1, "solved", "sha"),
        ("c", "low", "n20", 1, "timeout", None),
    )
    rules = [("R1", "2", "x", "0002", "static"), ("R2", "2", "y", "0001", "static")]
    publish(lake, "rules", RULES, None, "run0", "rule_id version text_sha since_cycle kind", *rules)

    artifacts(
        lake, "candidates", "0001", "run3", ("p", "accepted", "P", "prompt", "other line"), line="prompts"
    )
    publish(
        lake,
        "candidates",
        DERIVATIONS,
        "0001",
        "run3",
        edge,
        ("p", "a", "inspired", 1.0, "0001"),
        line="prompts",
    )

    artifacts(
        lake,
        "variants",
        "0002",
        "run4",
        ("v1", "accepted", "V1", "variant", "one"),
        ("v2", "blocked", "V2", "variant", "two"),
        line="solvers",
    )
    read = "call_id artifact_id cycle role backend usd status prompt_id"
    publish(
        lake,
        "variants",
        AGENT_CALLS,
        "0002",
        "run4",
        read,
        ("r1", "v1", "0002", "coder", "model", 0.5, "ok", "p"),
        ("r2", "v1", "0002", "coder", "model", 0.0, "replayed", "p"),
        ("r3", "v2", "0002", "coder", "model", 0.25, "invalid", "p"),
        ("r4", None, "0002", "planner", "model", 1.0, "ok", "unknown"),
        ("r5", "v2", "0002", "analyst", "model", 9.0, "ok", None),
        line="solvers",
    )
    lake.publish(
        "solvers",
        "unmade",
        pl.DataFrame({"plan_id": ["x", "y"], "reason": ["", ""]}),
        cycle="0002",
        run_id="run4",
    )
    lake.publish(
        "solvers", "unmade", pl.DataFrame({"plan_id": ["z"], "reason": [""]}), cycle="0002", run_id="run4b"
    )
    lake.publish(
        "solvers", "unmade", pl.DataFrame({"plan_id": ["x"], "reason": [""]}), cycle="0003", run_id="run5"
    )
    raised = "judging it raised TypeError at reading.py:40"
    publish(
        lake,
        "variants",
        VERDICTS,
        "0002",
        "run4",
        judged,
        ("v1", "0002", 0, "compliance", "R3", "1", "block", f"{raised}: unhashable type: 'list'"),
        ("v2", "0002", 0, "compliance", "R3", "1", "block", raised),
        ("v3", "0002", 0, "compliance", "R3", "1", "block", "judging it raised KeyError at unknown: 'a'"),
        ("v4", "0002", 0, "compliance", "R3", "1", "block", f"its README says: {raised}"),
        line="solvers",
    )
    if request.param == "compacted":
        assert compact(lake)
    return lake


def ask(lake: Lake, name: str, **parameters: str) -> list[tuple]:
    with Catalogue(lake) as catalogue:
        assert catalogue.warnings == []
        return catalogue.query((COOKBOOK / f"{name}.sql").read_text(), parameters).rows


def test_ancestors_of_the_champion_include_the_blocked_and_itself_last(lake):
    assert ask(lake, "champion_ancestors", line="designs") == [
        ("0000", "s1", "accepted", "design", None, "baseline"),
        ("0001", "a", "accepted", "design", "add-gate", "gate"),
        ("0001", "b", "blocked", "design", "swap", "warp"),
        ("0002", "c", "champion", "design", "graft", "best"),
    ]


def test_which_rule_blocked_what_and_why(lake):
    assert ask(lake, "blocked_by_rule", line="designs") == [
        ("R1", "1", "contract", "0002", "d", "copy", "no HYPER_SPACE"),
        ("R2", "2", "trace", "0001", "b", "warp", "an operator off the list"),
    ]


def test_the_funnel_of_each_cycle(lake):
    assert ask(lake, "funnel", line="designs") == [
        ("0001", 1, "contract", 2, 2, 0, 0, 0),
        ("0001", 2, "trace", 2, 1, 1, 0, 0),
        ("0002", 1, "contract", 2, 1, 1, 0, 0),
        ("0002", 2, "trace", 1, 1, 0, 0, 0),
    ]
    assert ask(lake, "funnel", line="prompts") == []


def test_the_funnel_counts_attempts_that_made_nothing_once(lake):
    assert ask(lake, "funnel", line="solvers") == [
        ("0002", None, "made", 3, 2, 1, 0, 0),
        ("0002", 0, "compliance", 2, 0, 2, 0, 0),
        ("0003", None, "made", 1, 0, 1, 0, 0),
    ]


def test_cost_per_accepted_counts_what_was_paid_once(lake):
    assert ask(lake, "cost_per_accepted", line="designs") == [
        ("0000", 0.0, 0, 2, 0.0, 0.0),
        ("0001", 2.25, 341, 1, 2.25, 341.0),
        ("0002", 0.0, 0, 1, 0.0, 0.0),
    ]


def carried(tmp_path) -> Lake:
    """A champion of cycle 0001 that cycle 0002 only carries on, and what the two cycles took to measure."""
    lake, experiments = Lake(tmp_path), all_tables()["designs", "experiments"]
    artifacts(
        lake,
        "candidates",
        "0001",
        "run1",
        ("a", "accepted", "A", "design", "a"),
        ("b", "accepted", "B", "design", "b"),
    )
    for cycle in ("0001", "0002"):
        artifacts(lake, "survivors", cycle, f"run{cycle}", ("a", "champion", "A", "design", "a"))
        rows = [
            {"design_id": "a", "cycle": cycle, "cpu_s": 1.5},
            {"design_id": "b", "cycle": cycle, "cpu_s": 0.5},
        ]
        lake.publish(
            "designs", "experiments", experiments.frame(rows), cycle=cycle, run_id="r", schema=experiments
        )
    return lake


def test_a_champion_that_is_carried_on_is_accepted_once(tmp_path):
    lake = carried(tmp_path)
    assert ask(lake, "cost_per_accepted", line="designs") == [("0001", 0.0, 0, 2, 0.0, 0.0)]
    with Catalogue(lake, all_tables()) as catalogue:
        rows = catalogue.query((COOKBOOK / "cpu_per_accepted.sql").read_text(), {}).rows
    assert rows == [("designs", "0001", 2.0, 2, 1.0), ("designs", "0002", 2.0, 0, None)]


def test_the_gate_that_blocked_most_since_a_day(tmp_path):
    lake = Lake(tmp_path)
    blocked = [
        ("x", "blocked", "X", "design", "x"),
        ("y", "blocked", "Y", "design", "y"),
        ("z", "accepted", "Z", "design", "z"),
    ]
    artifacts(lake, "candidates", "0001", "run1", *blocked)
    judged = "artifact_id cycle gate_no gate rule_id rule_version outcome judged_at"
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 9)]
    rows = [
        ("x", "0001", 0, "contract", "R1", "1", "block", days[0]),
        ("y", "0001", 0, "contract", "R1", "1", "pass", days[1]),
        ("z", "0001", 0, "contract", "R1", "1", "pass", days[1]),
        ("y", "0001", 1, "trace", "R2", "1", "block", days[1]),
        ("z", "0001", 1, "trace", "R2", "1", "pass", days[1]),
    ]
    publish(lake, "candidates", VERDICTS, "0001", "run1", judged, *rows)
    assert ask(lake, "gates_since", since="2026-01-01") == [
        ("designs", "contract", 1, 3, 0.333),
        ("designs", "trace", 1, 2, 0.5),
    ]
    assert ask(lake, "gates_since", since="2026-01-02") == [("designs", "trace", 1, 2, 0.5)]


def test_calls_that_led_to_the_champion(lake):
    assert ask(lake, "champion_calls", line="designs") == [
        ("0001", "a", "add-gate", "designer", "m", "k1", "ok", 110, 0.5),
        ("0001", "b", "swap", "designer", "m", "k2", "truncated", 220, 1.5),
        ("0002", "c", "graft", "designer", "operators", "k4", "ok", 0, 0.0),
    ]
    assert ask(lake, "champion_calls", line="solvers") == []


def test_checks_that_failed_and_were_not_made_good(tmp_path):
    lake, columns = Lake(tmp_path), "asset check_name cycle passed blocking checked_at reason"
    for cycle, passed, run in (("0001", False, "run1"), ("0001", True, "run1b"), ("0002", False, "run2")):
        row = ("candidates", "keys", cycle, passed, True, NOON, None if passed else "one row twice")
        publish(lake, "candidates__keys", CHECKS, cycle, run, columns, row)
    assert ask(lake, "failed_checks") == [
        ("designs", "0002", "candidates", "keys", True, NOON, "one row twice")
    ]


def test_yield_of_operators_and_models(lake):
    assert ask(lake, "operator_yield", line="designs") == [
        ("design", "add-gate", "m", 1, 1, 1, 1.0, 0.25),
        ("design", "graft", "operators", 1, 1, 1, 1.0, 0.25),
        ("design", "swap", "m", 1, 1, 0, 0.0, 0.0),
        ("design", "swap", "operators", 1, 1, 0, 0.0, 0.0),
    ]
    assert ask(lake, "operator_yield", line="solvers") == [
        ("variant", "without a parent", "model", 2, 2, 1, 0.5, 0.25),
        (None, "nothing", None, 2, 0, 0, 0.0, 0.0),
    ], "attempts that made nothing are attempts"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> Lake:
    """A cycle with a seed judged again, a child, one without a parent, an objective by an operator of the
    same name, and an attempt in vain."""
    lake = Lake(tmp_path_factory.mktemp("mixed"))
    artifacts(lake, "seeds", None, "run0", ("seed", "accepted", "S", "design", "seed"))
    artifacts(
        lake,
        "candidates",
        "0001",
        "run1",
        ("child", "accepted", "C", "design", "child"),
        ("drawn", "blocked", "D", "design", "drawn"),
    )
    artifacts(lake, "objectives", "0001", "run1", ("vote", "blocked", "V", "objective", "vote"))
    edge = "child_id parent_id operator weight cycle"
    publish(lake, "candidates", DERIVATIONS, "0001", "run1", edge, ("child", "seed", "mutate", 1.0, "0001"))
    publish(lake, "objectives", DERIVATIONS, "0001", "run1", edge, ("vote", "older", "mutate", 1.0, "0001"))
    judged = "artifact_id cycle gate_no gate rule_id rule_version outcome reason"
    publish(
        lake,
        "candidates",
        VERDICTS,
        "0001",
        "run1",
        judged,
        ("child", "0001", 0, "contract", "R1", "1", "pass", ""),
        ("drawn", "0001", 0, "contract", "R1", "1", "block", "no"),
        ("child", "0001", 6, "duel", "R6", "1", "pass", ""),
        ("seed", "0001", 6, "duel", "R6", "1", "pass", ""),
    )
    publish(
        lake,
        "objectives",
        VERDICTS,
        "0001",
        "run1",
        judged,
        ("vote", "0001", 0, "objective", "R9", "1", "block", "no"),
    )
    lake.publish(
        "designs", "unmade", pl.DataFrame({"plan_id": ["x"], "reason": [""]}), cycle="0001", run_id="run1"
    )
    return lake


def test_what_has_no_parent_is_an_attempt_and_kinds_are_counted_apart(mixed):
    assert ask(mixed, "operator_yield", line="designs") == [
        ("design", "mutate", "operators", 1, 1, 1, 1.0, 0.25),
        ("design", "without a parent", "operators", 1, 1, 0, 0.0, 0.0),
        ("objective", "mutate", "operators", 1, 1, 0, 0.0, 0.0),
        (None, "nothing", None, 1, 0, 0, 0.0, 0.0),
    ]


@pytest.mark.parametrize("line", ["designs", "families", "programs", "prompts", "solvers"])
def test_what_a_line_attempted_in_vain_is_in_its_funnel_and_its_yield(tmp_path, line):
    schema = all_tables()[line, "unmade"]
    (key,) = schema.keys
    row = dict.fromkeys(schema.columns) | {"cycle": "0001", "reason": "nothing came of it"}
    lake = Lake(tmp_path)
    rows = [row | {key: f"plan-{number}" if key == "plan_id" else number} for number in range(3)]
    lake.publish(line, "unmade", schema.frame(rows), cycle="0001", run_id="r", schema=schema)
    with Catalogue(lake, all_tables()) as catalogue:
        funnel, tried = (
            catalogue.query((COOKBOOK / f"{name}.sql").read_text(), {"line": line}).rows
            for name in ("funnel", "operator_yield")
        )
    assert (funnel, tried) == (
        [("0001", None, "made", 3, 0, 3, 0, 0)],
        [(None, "nothing", None, 3, 0, 0, 0.0, 0.0)],
    )


def test_money_spent_on_candidates_blocked_late(lake):
    assert ask(lake, "spent_on_late_blocks", line="designs", gate_no="2") == [(2, "trace", 1, 1.5, 220)]
    assert ask(lake, "spent_on_late_blocks", line="designs", gate_no="1") == [
        (1, "contract", 1, 0.0, 0),
        (2, "trace", 1, 1.5, 220),
    ]


def test_verdicts_that_a_new_version_of_a_rule_changed(lake):
    assert ask(lake, "verdict_flips", rule_id="R2", before="1", after="2") == [
        ("b", "pass", "block", "an operator off the list")
    ]
    assert ask(lake, "verdict_flips", rule_id="R1", before="1", after="2") == []


def test_the_history_of_rules_says_which_edition_judged_which_cycles(lake):
    rows = [row for row in ask(lake, "rule_history") if row[1] in ("R1", "R2")]
    assert [(*row[:7], row[8]) for row in rows] == [
        ("designs", "R1", "1", "0001", "0002", 2, 1, True),
        ("designs", "R2", "1", None, None, 0, 1, False),
        ("designs", "R2", "2", "0001", "0002", 2, 0, True),
    ]
    assert rows[1][7] < rows[2][7]  # applied later


def test_champions_that_rest_on_a_revoked_rule(lake):
    assert ask(lake, "champions_on_revoked_rules") == [
        ("designs", "0001", "a", "R1", "1", "2"),
        ("designs", "0002", "c", "R1", "1", "2"),
    ]


def test_wins_without_a_certificate(lake):
    assert ask(lake, "wins_without_certificate", line="designs") == [
        ("c", "champion", "low", "n10", 1, "solved")
    ]


def test_duplicates_by_content(lake):
    assert ask(lake, "duplicates", line="designs") == [("A", 2, 2, ["a", "d"], ["0001", "0002"])]


def test_health_of_model_calls(lake):
    assert ask(lake, "model_call_health", line="designs") == [
        ("designer", "model", "m", 2, 1, 1, 2.0, 2.9, 300, 50, 30, 2.0),
        ("designer", "operators", "", 1, 0, 0, 0.0, 0.0, 0, 0, 0, 0.0),
        ("planner", "model", "m", 1, 0, 0, 2.0, 2.0, 10, 0, 1, 0.25),
    ]


def test_system_prompts_that_roles_read(lake):
    assert ask(lake, "system_prompts_in_use", line="solvers") == [
        ("p", "accepted", "coder", "0002", "0002", 3, 1, 0.75, 2, 1),
        ("unknown", None, "planner", "0002", "0002", 1, 0, 1.0, 0, 0),
    ]
    assert ask(lake, "system_prompts_in_use", line="designs") == []


def test_where_judging_itself_raised(lake):
    assert ask(lake, "judging_raised") == [
        (
            "solvers",
            "0002",
            "reading.py:40",
            "TypeError",
            "compliance",
            2,
            "judging it raised TypeError at reading.py:40",
        ),
        (
            "solvers",
            "0002",
            "unknown",
            "KeyError",
            "compliance",
            1,
            "judging it raised KeyError at unknown: 'a'",
        ),
    ]


def test_blast_radius_of_a_run(lake):
    assert ask(lake, "blast_radius", run_id="run1") == [
        ("designs", "0001", "accepted", 1),
        ("designs", "0001", "blocked", 1),
        ("designs", "0002", "champion", 1),
        ("prompts", "0001", "accepted", 1),
    ]
    assert ask(lake, "blast_radius", run_id="no such run") == []


FILES = sorted(COOKBOOK.glob("*.sql"))


def test_the_cookbook_has_its_twelve_questions():
    assert len(FILES) >= 12


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_question_is_a_comment_in_words_and_at_most_ten_lines(path):
    lines = path.read_text().splitlines()
    said = [line for line in lines if line.startswith("--")]
    assert said == lines[: len(said)]
    assert "?" in " ".join(said)
    assert 1 <= len(lines) - len(said) <= 10
