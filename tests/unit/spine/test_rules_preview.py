"""What edited rules would change is told from the lake alone: flips, champions that would fall, what to make
again and what that took before."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.line import Line
from assets.story import RULES_APPLIED, rules_applied, story_page
from evolake.cli.sql import all_tables
from evolake.gates import load_rules
from evolake.gates.stored import Find
from evolake.lake import AGENT_CALLS, ARTIFACTS, CHAMPIONS, VERDICTS, Catalogue, Lake, TableSchema, side_table
from evolake.lines import lines
from evolake.report.rules_preview import Graph, evidence_of_line, preview_rules, work_of
from evolake.report.story import Story
from pipelines.one_line import Stage
from pipelines.rules_apply import tell_in_stories
from pipelines.rules_job import preview_rules as job
from resources.lake import LakeResource

LINE, SHIPPED = "prompts", Path(__file__).resolve().parents[3] / "data_lake" / "seeds" / "rules"
GRAPH = Graph(
    ("children", "accepted", "duel_replies", "survivors"),
    {"accepted": frozenset({"duel_replies", "survivors"})},
)
CYCLES = ("0001", "0002", "0003")
CHAMPION = "long-0002"


@pytest.fixture
def rules(tmp_path) -> Path:
    """A copy of the rules that may be edited."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "rules"))


@pytest.fixture
def lake(tmp_path, rules) -> Lake:
    """Three cycles of two children each, one of four characters and from the second cycle on one of ninety,
    which is champion; a third is blocked."""
    lake, ruleset = Lake(tmp_path / "lake"), load_rules(rules, LINE)
    lake.seals.seal(LINE, "0001", "v0001", None, "r", {})

    def publish(asset: str, schema: TableSchema, rows: list[dict[str, Any]], cycle: str) -> None:
        lake.publish(
            LINE, side_table(asset, schema), schema.frame(rows), cycle=cycle, run_id="r", schema=schema
        )

    for cycle in CYCLES:
        sizes = {f"short-{cycle}": 4, f"huge-{cycle}": 5000} | (
            {f"long-{cycle}": 90} if cycle > "0001" else {}
        )
        verdicts: list[dict[str, Any]] = []
        for name, size in sizes.items():
            seen = {
                "form": {
                    "prompt_id": name,
                    "parent": None,
                    "replayed": name,
                    "objection": "",
                    "principles": [["p", "x" * size]],
                    "same_as": None,
                },
                "leak": {"prompt_id": name, "copies": [], "problems": {}},
            }
            sha = lake.blobs.put(json.dumps(seen).encode())
            for rule in ruleset.rules:
                blocked = rule.id == "prompts-size" and size == 5000
                if size < 5000 or rule.gate == "form":
                    verdicts.append(
                        {
                            "artifact_id": name,
                            "cycle": cycle,
                            "gate_no": int(rule.gate == "leak"),
                            "gate": rule.gate,
                            "rule_id": rule.id,
                            "rule_version": "1",
                            "ruleset_hash": ruleset.hash_of((rule.gate,)),
                            "outcome": "block" if blocked else "pass",
                            "reason": "too long" if blocked else "",
                            "evidence_sha": sha,
                            "run_id": "r",
                        }
                    )
        publish("accepted", VERDICTS, verdicts, cycle)
        publish(
            "children",
            ARTIFACTS,
            [{"artifact_id": name, "line": LINE, "title": f"*{name}*", "cycle": cycle} for name in sizes],
            cycle,
        )
        publish(
            "survivors",
            CHAMPIONS,
            [{"line": LINE, "cycle": cycle, "artifact_id": CHAMPION if cycle > "0001" else "short-0001"}],
            cycle,
        )
        calls = [("iterations", None, 1000, 0.5)] + [("duel_replies", name, 100, 0.25) for name in sizes]
        for asset in ("iterations", "duel_replies"):
            publish(
                asset,
                AGENT_CALLS,
                [
                    {
                        "call_id": f"{cycle}-{asset}-{name}",
                        "artifact_id": name,
                        "cycle": cycle,
                        "input_tokens": tokens,
                        "output_tokens": 0,
                        "usd": usd,
                    }
                    for made, name, tokens, usd in calls
                    if made == asset
                ],
                cycle,
            )
        following = f"{int(cycle) + 1:04d}"
        lake.seals.seal(LINE, following, f"v{following}", f"v{cycle}", "r", {})
    return lake


def edit(rules: Path, old: str, new: str) -> None:
    path = rules / LINE / "size.md"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def asked(lake: Lake, rules: Path):
    with Catalogue(lake) as catalogue:
        preview = preview_rules(lake, catalogue, load_rules(rules, LINE))
        return preview, work_of(preview, GRAPH, catalogue, CYCLES)


def test_rules_that_judged_everything_already_change_nothing(lake, rules):
    preview, work = asked(lake, rules)
    assert (preview.judged, preview.flips, preview.fates, work.cycles) == (8, (), (), ())


def test_a_new_version_alone_asks_for_the_verdicts_again_and_for_nothing_else(lake, rules):
    edit(rules, "version: 1", "version: 2")
    preview, work = asked(lake, rules)
    assert (preview.flips, [fate for fate in preview.fates if fate.changes]) == ((), [])
    assert [(cycle.cycle, cycle.assets, cycle.whole) for cycle in work.cycles] == [
        (cycle, ("accepted",), False) for cycle in CYCLES
    ]
    assert (work.cost.cpu_s, work.cost.calls, work.cost.usd) == (0, 0, 0)


def test_half_applied_rules_are_named_with_their_version_in_the_page_of_a_cycle_until_all_are_judged_by_them(
    lake, rules, tmp_path, monkeypatch
):
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path))
    line = Line(LINE, "Prompts.")
    assert rules_applied(lake, line) == {}
    edit(rules, "version: 1", "version: 2")
    assert rules_applied(lake, line) == {}, "judged by none of the files as they are: the preview says so"
    judge_again(lake, rules, "0001")
    half = rules_applied(lake, line)[RULES_APPLIED].value
    assert half.startswith(
        "the rules are half applied: cycle 0001 of 3 judged by the files as they are (version 2 "
    )
    monkeypatch.setattr("evolake.report.story.story_of", lambda _, line, cycle, closing: Story(line, cycle))
    page, _ = story_page(lake, line, "0001", "run", lambda _: None)
    assert page[RULES_APPLIED].value == half
    with dg.DagsterInstance.ephemeral() as instance:
        for cycle in CYCLES:
            made = dg.AssetMaterialization(line.story.key, partition=cycle, metadata={"story": cycle})
            instance.report_runless_asset_event(made)
        stage = Stage(dg.Definitions(), instance, tmp_path, lake, "demo", lambda _: None)

        def pages() -> dict[str | None, set[str]]:
            wanted = dg.AssetRecordsFilter(asset_key=line.story.key)
            made = [
                item.asset_materialization for item in instance.fetch_materializations(wanted, 99).records
            ]
            return {item.partition: set(item.metadata) for item in reversed(made) if item}

        tell_in_stories(stage, line, ["0003"])
        assert pages() == {key: {"story"} for key in CYCLES} | {"0003": {"story", RULES_APPLIED}}
        for cycle in CYCLES[1:]:
            judge_again(lake, rules, cycle)
        tell_in_stories(stage, line, CYCLES)
        tell_in_stories(stage, line, CYCLES)
        assert pages() == {key: {"story"} for key in CYCLES}
        assert len(instance.fetch_materializations(line.story.key, limit=99).records) == 5


def judge_again(lake: Lake, rules: Path, cycle: str) -> None:
    """The verdicts of a cycle, by the rules as the files are now."""
    now, table = load_rules(rules, LINE), side_table("accepted", VERDICTS)
    versions = {rule.id: str(rule.version) for rule in now.rules}
    rows = [
        row
        | {
            "rule_version": versions[row["rule_id"]],
            "ruleset_hash": now.hash_of((row["gate"],)),
            "run_id": "s",
        }
        for row in lake.read(LINE, table, cycle).to_dicts()
    ]
    lake.publish(LINE, table, VERDICTS.frame(rows), cycle=cycle, run_id="s", schema=VERDICTS)


def test_a_stricter_rule_fells_the_champion_and_the_first_cycle_that_changes_voids_those_after_it(
    lake, rules
):
    edit(rules, '"most_characters": 600', '"most_characters": 50')
    preview, work = asked(lake, rules)
    assert [(flip.rule_id, flip.artifact_id, flip.before, flip.after) for flip in preview.flips] == [
        ("prompts-size", f"long-{cycle}", "pass", "block") for cycle in CYCLES[1:]
    ]
    assert [(item.artifact_id, item.cycles, item.is_champion) for item in preview.fallen] == [
        (CHAMPION, CYCLES[1:], True)
    ]
    assert [(cycle.cycle, cycle.assets, cycle.whole) for cycle in work.cycles] == [
        ("0001", ("accepted",), False),
        ("0002", GRAPH.everything[1:], False),
        ("0003", GRAPH.everything, True),
    ]
    # of the cycle that changes the calls about those that still stand, of the next all
    assert [(cycle.cost.calls, cycle.cost.tokens, cycle.cost.usd) for cycle in work.cycles] == [
        (0, 0, 0),
        (2, 200, 0.5),
        (4, 1300, 1.25),
    ]


def test_a_looser_rule_lets_through_what_it_blocked_on_the_evidence_that_is_stored(lake, rules):
    edit(rules, '"most_characters": 600', '"most_characters": 6000')
    preview, work = asked(lake, rules)
    assert [(flip.artifact_id, flip.before, flip.after) for flip in preview.flips] == [
        (f"huge-{cycle}", "block", "pass") for cycle in CYCLES
    ]
    assert {(fate.artifact_id, fate.now) for fate in preview.fates if fate.changes} == {
        (f"huge-{cycle}", "accepted") for cycle in CYCLES
    }
    assert [(cycle.cycle, cycle.whole) for cycle in work.cycles] == [
        ("0001", False),
        ("0002", True),
        ("0003", True),
    ]
    assert (
        work.cycles[0].cost.calls == 3
    )  # those of the two that have some, and as many as one of them for the one that is new


@pytest.mark.parametrize(("lost", "now"), [("leak", "further"), ("form", "unknown")])
def test_what_is_not_stored_is_not_guessed(lake, rules, monkeypatch, lost, now):
    stored = evidence_of_line(LINE)

    def find(*place: Any) -> Find:
        result = stored.find(*place)
        return lambda artifact, gate, shas: None if gate == lost else result(artifact, gate, shas)

    monkeypatch.setattr("evolake.prompts.gates.STORED", replace(stored, find=find))
    edit(rules, '"most_characters": 600', '"most_characters": 6000')
    preview, _ = asked(lake, rules)
    assert {(fate.now, fate.lacking) for fate in preview.fates if fate.artifact_id.startswith("huge")} == {
        (now, lost)
    }
    assert len(preview.flips) == (3 if lost == "leak" else 0)


@pytest.mark.parametrize("line", [name for name, spec in lines().items() if spec.evidence])
def test_a_lake_without_a_cycle_is_asked_about_every_line_and_has_spent_nothing(tmp_path, line):
    with Catalogue(Lake(tmp_path / "empty"), all_tables()) as catalogue:
        preview = preview_rules(Lake(tmp_path / "empty"), catalogue, load_rules(SHIPPED, line))
        work = work_of(preview, GRAPH, catalogue, ())
    assert (preview.judged, preview.flips, preview.fallen, work.cycles, work.seeds) == (0, (), (), (), 0)


def test_the_job_says_it_in_markdown_with_what_to_select_and_publishes_nothing(lake, rules):
    edit(rules, '"most_characters": 600', '"most_characters": 50')
    before = sorted(lake.root.rglob("*"))
    done = job.execute_in_process(
        resources={"lake": LakeResource(root=str(lake.root))},
        run_config={"ops": {"replay_rules": {"config": {"line": LINE, "rules": str(rules)}}}},
    )
    [event] = [item for item in done.all_events if item.is_successful_output]
    summary = event.step_output_data.metadata[LINE].value
    assert (
        r"| long-0002 \*long-0002\* | 0002 | pass | block | principle p has 90 characters, 50 are allowed |"
        in summary
    )
    assert (
        r"the champion \*long-0002\* (long-0002) would fall by prompts-size; it held the title at the end "
        r"of 2 cycles, 0002 to 0003" in summary
    )
    assert (
        """dagster asset materialize -m pipelines.definitions --partition 0001 --select 'key:"prompts/accepted"'"""  # noqa: E501
        in summary
    )
    assert "evolake run --lines prompts --cycles 1" in summary
    assert sorted(lake.root.rglob("*")) == before
