"""The families line for real: cycles through Dagster by the command that users type, then the lake, the
exports, and a rule that changes."""

import csv
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from designs_fixtures import ROOT, Project, open_project
from lake_damage import damage_of
from project_steps import (
    contents,
    edit_rule,
    flips,
    flips_told,
    materialize,
    parts_of,
    previewed,
    run_here,
    undescribed,
)
from project_steps import stale as stale_parts
from re_execution import copy_of, killed_at, re_executed

from evolake.families.faults.catalogue import FAULTS, UNSEEN
from evolake.families.gates.specs import GATES
from evolake.families.model.family_files import read_family
from evolake.families.model.statement import stated
from evolake.gate_spec import gates_of_assets
from evolake.report.figures import figures_in

pytestmark = pytest.mark.e2e
SEEDS = ("clinic-queue", "remainder-subsets", "truth-tellers", "digit-machine", "polynomial-product")
ADDED_SEED = "falling-dominoes"
ADDED_SEED_ID = f"SELECT family_id FROM families.immigrant_families WHERE name = '{ADDED_SEED}'"
JUDGED = tuple(gates_of_assets(GATES))
"""The assets of a cycle that judge by rules."""
ASSETS = (
    "candidates",
    *JUDGED,
    "accepted",
    "instances",
    "complexity",
    "funnel",
    "drift",
    "experience",
    "survivors",
)
SMALL = {"EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE": "6", "EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY": "9"}


def open_families_project(folder: Path) -> Project:
    """A project with a copy of five seeds and of the rules, so that both may be edited."""
    shutil.copytree(ROOT / "data_lake" / "seeds" / "rules", folder / "seeds" / "rules")
    for name in SEEDS:
        shutil.copytree(
            ROOT / "data_lake" / "seeds" / "families" / name, folder / "seeds" / "families" / name
        )
    drop_folders(folder / "seeds" / "families")
    return open_project(folder, EVOLAKE_SEEDS=str(folder / "seeds"), **SMALL)


def drop_folders(families: Path) -> None:
    """What users may drop there: a whole family without any settings, one as the paper's pipeline writes it,
    and one that attacks the machine."""
    shipped = ROOT / "data_lake" / "seeds" / "families"
    shutil.copytree(shipped / "bus-legs", families / "Dropped Whole")
    (families / "Dropped Whole" / "family.toml").unlink()
    for name in ("dropped-bare", "dropped-hostile"):
        (families / name).mkdir()
        for file in ("generator.py", "validator.py"):
            shutil.copy(shipped / "linear-interventions" / file, families / name / file)
        (families / name / "template.md").write_text(stated(read_family(shipped / "linear-interventions")))
    (families / "dropped-hostile" / "generator.py").write_text(
        "def input(difficulty):\n    import os\n    while True:\n        os.fork()\n"
    )


@pytest.fixture(scope="module")
def evolved(tmp_path_factory) -> Project:
    """A project after two cycles."""
    folder = tmp_path_factory.mktemp("families")
    project = open_families_project(folder)
    project.run("run", "--cycles", "1", "--lines", "families")
    shipped = ROOT / "data_lake" / "seeds" / "families"
    summary = json.loads(project.run("seeds", "add", str(shipped / ADDED_SEED), "--json").stdout)
    assert (summary["verdict"], summary["line"], summary["enters"]) == ("added", "families", "0002")
    (folder / "seeds" / "families" / "dropped-late").mkdir()
    (folder / "seeds" / "families" / "dropped-late" / "generator.py").write_text(
        "def input(difficulty):\n    return {}, []\n"
    )
    done = run_here(project, "families")
    assert "0002" in done.stdout
    assert (
        "new seeds: dropped-late blocked before the gates (no file template.md in dropped-late wanted: "
        in done.stdout
    )
    assert f"{ADDED_SEED} accepted" in done.stdout
    return project


def test_a_seed_that_is_added_to_a_used_lake_enters_the_next_cycle_after_every_gate(evolved):
    notes = evolved.sql("SELECT name, state, cycle FROM families.immigrants ORDER BY name")
    refused = [["dropped-bare", "blocked", "0001"], ["dropped-hostile", "blocked", "0001"]]
    assert notes == [*refused, ["dropped-late", "blocked", "0002"], [ADDED_SEED, "accepted", "0002"]]
    rows = evolved.sql("SELECT name, state, origin, cycle FROM families.immigrant_families")
    assert rows == [[ADDED_SEED, "accepted", "seed", "0002"]]
    assert evolved.sql(
        f"SELECT count(*) > 0 FROM families.instances WHERE cycle = '0002' AND family_id = ({ADDED_SEED_ID})"
    ) == [[True]]
    summary = json.loads(evolved.run("seeds", "list", "--line", "families", "--json").stdout)["seeds"]
    assert {(row["seed"], row["state"], row["cycle"]) for row in summary if row["cycle"] != "0000"} == {
        (ADDED_SEED, "accepted", "0002"),
        ("dropped-late", "blocked", "0002"),
    }
    assert len(summary) == len(SEEDS) + 5


def test_every_published_column_says_what_it_means(evolved):
    assert undescribed(evolved.lake, "families") == []


def test_the_lake_is_intact(evolved):
    assert damage_of(evolved.lake) == []


def test_dropped_folders_are_judged_like_any_seed_and_what_is_blocked_is_a_row_that_does_not_enter(evolved):
    rows = evolved.sql(
        "SELECT name, state, gate, rule_id FROM families.seeds WHERE name LIKE 'dropped%' ORDER BY name"
    )
    assert rows == [
        ["dropped-bare", "blocked", "consensus", "families-voters"],
        ["dropped-hostile", "blocked", "execution", "families-instances"],
        ["dropped-whole", "accepted", None, None],
    ]
    assert evolved.sql(
        "SELECT count(*) FROM families.survivors WHERE operator = 'seed' AND cycle = '0001'"
    ) == [[len(SEEDS) + 1]]
    reason = evolved.sql("SELECT reason FROM families.seeds WHERE name = 'dropped-hostile'")[0][0]
    assert "forbidden" in reason


@pytest.mark.parametrize("asset", ASSETS)
def test_every_asset_of_the_list_is_there_for_every_cycle(evolved, asset):
    assert parts_of(evolved, "families", asset) == ["0001", "0002"]


def test_the_second_cycle_starts_from_what_survived_the_first(evolved):
    survived = evolved.sql("SELECT count(*) FROM families.survivors WHERE cycle = '0001'")[0][0]
    accepted = evolved.sql("SELECT count(*) FROM families.accepted WHERE cycle = '0002'")[0][0]
    assert evolved.sql("SELECT count(*) FROM families.survivors WHERE cycle = '0002'") == [
        [survived + accepted + 1]
    ]  # and an added seed
    assert survived > len(SEEDS)


def test_whatever_survives_passed_every_gate(evolved):
    rows = evolved.sql("""
        SELECT s.family_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass'), count(*)
          FILTER (v.outcome <> 'pass')
        FROM (SELECT family_id, cycle FROM families.survivors QUALIFY row_number()
          OVER (PARTITION BY family_id ORDER BY cycle) = 1) AS s
        LEFT JOIN verdicts AS v ON v.artifact_id = s.family_id GROUP BY ALL""")
    assert {(row[1], row[2]) for row in rows} == {(len(GATES), 0)}


def test_each_family_gives_its_instances_once_at_one_to_three_to_five(evolved):
    counts = evolved.sql("SELECT band, count(*) FROM families.instances GROUP BY ALL ORDER BY ALL")
    families = evolved.sql("SELECT count(*) FROM families.survivors WHERE cycle = '0002'")[0][0]
    assert counts == [["1-3", families], ["4-6", 3 * families], ["7-10", 5 * families]]
    assert evolved.sql(
        "SELECT max(n) FROM (SELECT count(*) AS n FROM families.instances GROUP BY text_sha)"
    ) == [[1]]


def test_every_child_comes_from_parents_whose_shares_sum_to_one(evolved):
    sums = evolved.sql("""
        SELECT c.family_id, sum(d.weight) FROM families.candidates AS c JOIN derivations AS d
          ON d.child_id = c.family_id AND d.cycle = c.cycle
        GROUP BY ALL""")
    drawn, composed = "operator LIKE '%_world'", "operator NOT LIKE '%_world'"
    assert (
        len(sums)
        == evolved.sql(f"SELECT count(DISTINCT family_id) FROM families.candidates WHERE {composed}")[0][0]
    )
    assert evolved.sql(f"SELECT count(*) > 0, max(len(parents)) FROM families.candidates WHERE {drawn}") == [
        [True, 0]
    ]
    assert all(abs(total - 1) < 1e-9 for _, total in sums)
    child = sums[0][0]
    assert evolved.sql(f"SELECT count(*) FROM ancestors('{child}')")[0][0] >= 1


def test_the_funnel_of_the_line_is_that_of_the_verdicts(evolved):
    ours = evolved.sql(
        "SELECT cycle, gate, came, passed FROM families.funnel WHERE operator = 'all' AND gate <> "
        "'attempts' ORDER BY ALL"
    )
    theirs = evolved.sql(
        "SELECT cycle, gate, came, passed FROM funnel('families') WHERE cycle <> '0000' ORDER BY ALL"
    )
    entered = {"0001": 0, "0002": 1}  # added seeds, which no cycle proposed, and which passed every gate
    assert [
        [cycle, gate, came + entered[cycle], passed + entered[cycle]] for cycle, gate, came, passed in ours
    ] == theirs


def test_every_class_of_planted_faults_is_caught_and_what_no_gate_sees_is_said(evolved):
    planted = evolved.sql(
        "SELECT expected <> 'none' AS meant, outcome, count(DISTINCT fault) FROM families.planted_faults "
        "GROUP BY ALL ORDER BY ALL"
    )
    assert [row[:2] for row in planted if row[1] != "does not apply"] == [
        [False, "survived"],
        [True, "caught"],
    ]
    assert [row[2] for row in planted if row[1] != "does not apply"] == [len(UNSEEN), len(FAULTS)]
    rates = evolved.sql("SELECT DISTINCT expected = 'none', rate FROM families.fault_kill_rates ORDER BY ALL")
    assert rates == [[False, 1.0], [True, 0.0]]


def test_the_report_says_what_there_is_and_draws_it(evolved, tmp_path):
    said = evolved.run(
        "report",
        "--lines",
        "families",
        "--out",
        str(tmp_path / "r.html"),
        "--figures",
        str(tmp_path / "figures"),
    ).stdout
    live = evolved.sql(
        "SELECT count(*), count(*) FILTER (operator <> 'seed') FROM families.survivors WHERE cycle = '0002'"
    )[0]
    instances = evolved.sql("SELECT count(*) FROM families.instances")[0][0]
    assert (
        f"{live[0]} families passed every gate so far, with {instances} instances; {live[1]} of them evolved"
        in said
    )
    figures = {
        figure.title.lower().replace(" ", "_") for figure in figures_in("evolake.families.report.figures")
    }
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == figures
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "figures").iterdir())
    text = html.unescape(re.sub(r"(\s*<[^>]*>\s*)+", "\n", (tmp_path / "r.html").read_text()))
    assert (
        f"no single champion: {live[0]} families that passed every gate" in text
        and "of 1 new seed 1 is accepted" in text
    )
    assert f"{instances} of {instances} labels have a strict majority of their voters" in text
    assert "0 pairs of accepted families are near-duplicates" in text
    assert (
        f"{len(FAULTS)} of {len(FAULTS)} planted faults of {len(FAULTS)} classes are caught (least sure of "
        in text
    )
    assert f"by the 95% interval). Seen by no gate: {', '.join(sorted(UNSEEN))}." in text
    assert re.search(r"the higher difficulty takes more work in \d+% of pairs", text)
    shown = evolved.sql("SELECT DISTINCT operator FROM families.accepted WHERE cycle = '0002' ORDER BY 1")
    titles = evolved.sql("SELECT operator, title FROM families.accepted WHERE cycle = '0002'")
    assert shown and all(
        any(title in text for operator, title in titles if operator == name) for (name,) in shown
    )


def test_the_report_of_an_earlier_cycle_knows_nothing_of_later_ones(evolved, tmp_path):
    evolved.run("report", "--lines", "families", "--cycle", "1", "--out", str(tmp_path / "r.html"))
    text = (tmp_path / "r.html").read_text()
    later = {
        row[0][:12] for row in evolved.sql("SELECT family_id FROM families.candidates WHERE cycle = '0002'")
    }
    assert "Cycle 0001 of the families line" in text and not [name for name in later if name in text]


def test_operators_are_no_model_and_measure_no_drift(evolved):
    assert evolved.sql("SELECT DISTINCT backend, usd FROM agent_calls") == [["operators", 0.0]]
    assert evolved.sql("SELECT count(*) FROM families.drift") == [[0]]


@pytest.mark.parametrize("form", ["trl", "verl"])
def test_an_export_rewards_its_own_labels_and_nothing_else(evolved, tmp_path, form):
    summary = json.loads(
        evolved.run("families", "export", "--format", form, "--out", str(tmp_path), "--json").stdout
    )
    rows = pl.read_parquet(tmp_path / "train.parquet")
    assert summary["splits"] == {"train": rows.height} and summary["cycles"] == ["0001", "0002"]
    (tmp_path / "rows.json").write_text(json.dumps(rows["answer"].to_list()))
    code = """
import json
from reward import reward, compute_score
answers = json.load(open("rows.json"))
shown = [value if isinstance(value, str) else json.dumps(value) for value in map(json.loads, answers)]
print(sum(reward(["\\\\boxed{%s}" % text for text in shown], answers)), sum(reward(["\\\\boxed{%sx}" % text for text in shown], answers)),
      sum(compute_score("", text, answer) for text, answer in zip(shown, answers)))
"""  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, env={}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"{rows.height}.0", "0.0", "0.0"]


def test_exported_families_pass_the_gates_again(evolved, tmp_path):
    evolved.run("families", "export", "--format", "jsonl", "--out", str(tmp_path / "out"))
    lines = (tmp_path / "out" / "families.jsonl").read_text().splitlines()
    evolved_one = next(line for line in lines if json.loads(line)["operator"] != "seed")
    (tmp_path / "one.jsonl").write_text(evolved_one + "\n")
    checked = json.loads(evolved.run("families", "check", str(tmp_path / "one.jsonl"), "--json").stdout)
    assert checked["verdict"] in ("accepted", "accepted with remarks")
    card = (tmp_path / "out" / "README.md").read_text()
    assert all(f"* {name} `" in card for name in SEEDS)
    assert (
        len(
            {
                json.loads(line)["text"]
                for line in (tmp_path / "out" / "instances.jsonl").read_text().splitlines()
            }
        )
        == len(lines) * 9
    )


def test_an_audit_goes_out_and_its_grades_come_back(evolved, tmp_path):
    path = tmp_path / "audit.csv"
    evolved.run("families", "audit", "export", "--size", "4", "--out", str(path))
    rows = list(csv.DictReader(path.read_text().splitlines(keepends=True)))
    names = ("validator_consistency", "answer_correctness", "question_clarity", "generator_quality")
    for number, row in enumerate(rows):
        row |= {
            "auditor": "Ada",
            **dict.fromkeys(names, "A"),
            "question_clarity": "D" if number == 0 else "B",
        }
    with path.open("w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    summary = json.loads(evolved.run("families", "audit", "import", str(path), "--json").stdout)
    assert (summary["verdict"], summary["graded"], summary["usable"], summary["fully_correct"]) == (
        "usable",
        4,
        3,
        0,
    )
    assert evolved.sql(
        "SELECT question_clarity, count(*) FROM families.audit_grades GROUP BY ALL ORDER BY ALL"
    ) == [["B", 3], ["D", 1]]


def stale(project: Project) -> set[tuple[str, str]]:
    return stale_parts(project, "families", ASSETS, ("0001", "0002"))


def test_a_run_that_was_killed_is_executed_again_from_failure(evolved, tmp_path):
    copy = copy_of(evolved, "families", tmp_path, "0003")
    re_executed(copy, "families", "0003", killed_at(copy, "families", "0003", "accepted"))
    assert damage_of(copy.lake) == []
    assert all(parts_of(copy, "families", name)[-1] == "0003" for name in ASSETS)


def test_a_rule_that_is_only_versioned_touches_verdicts_and_nothing_downstream(evolved):
    """From here on tests change the lake."""
    assert stale(evolved) == set()
    before = contents(evolved, "families")
    edit_rule(evolved, "families", "blind", "version: 1", "version: 2")
    cycles = ("0001", "0002")
    summary = previewed(evolved, "families")
    assert (
        summary["rules"],
        summary["evidence_lacking"],
        summary["cost"]["calls"],
        summary["cost"]["cpu_s"],
    ) == ({}, [], 0, 0)
    assert [(item["cycle"], tuple(item["assets"])) for item in summary["make_again"]] == [
        (cycle, ("blind_reviews",)) for cycle in cycles
    ]
    assert {(asset, cycle) for asset, cycle in stale(evolved) if asset in JUDGED} == {
        ("blind_reviews", cycle) for cycle in cycles
    }
    for cycle in cycles:
        materialize(evolved, "families", cycle, "blind_reviews")
    assert stale(evolved) == set()
    changed = {
        asset for (asset, cycle), sha in contents(evolved, "families").items() if before[asset, cycle] != sha
    }
    assert changed == {"blind_reviews__verdicts"}  # which names the rules of its gate
    assert flips(evolved, "families-blind", 1, 2) == []


def test_a_stricter_rule_blocks_on_stored_evidence_without_a_run(evolved):
    edit_rule(evolved, "families", "blind", '"least_matches": 3', '"least_matches": 6')
    edit_rule(evolved, "families", "blind", "version: 2", "version: 3")
    assert evolved.sql("SELECT count(*) > 0 FROM families.accepted WHERE cycle = '0001'") == [[True]]
    passed = evolved.sql(
        "SELECT count(*) FROM verdicts WHERE cycle = '0001' AND rule_id = 'families-blind' AND outcome = "
        "'pass'"
    )[0][0]
    calls = evolved.sql("SELECT count(*) FROM agent_calls")
    summary = previewed(evolved, "families")  # `evolake rules preview` before, against what really happens
    materialize(evolved, "families", "0001", "blind_reviews", "sentences", "accepted")
    assert evolved.sql("SELECT count(*) FROM families.accepted WHERE cycle = '0001'") == [[0]]
    assert evolved.sql("SELECT count(*) FROM agent_calls") == calls
    assert {row[0] for row in flips(evolved, "families-blind", 2, 3)} == flips_told(
        summary, "families-blind", "0001"
    )
    assert (
        len(flips(evolved, "families-blind", 2, 3)) == passed
    )  # those that the gate of sentences blocked among them
    again = {item["cycle"]: item for item in summary["make_again"]}
    assert {cycle: item["whole"] for cycle, item in again.items()} == {"0001": False, "0002": True}
    now = stale(evolved)
    assert {asset for asset, cycle in now if cycle == "0001"} <= set(again["0001"]["assets"])
    readers = {(asset, "0001") for asset in ("instances", "complexity", "funnel", "drift")}
    assert readers <= now  # and what stands on those, as soon as they are made again
