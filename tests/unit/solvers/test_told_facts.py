"""What planner and coder are told: whole functions, diffs of what was tried, results by family, knowledge,
and what a crashed run wrote."""

from pathlib import Path

import pytest
from solver_runs import run_row

from evolake.agents.prompts import build_messages
from evolake.gates import Verdict, load_rules
from evolake.lake import BlobStore
from evolake.seeds import CycleSeeds
from evolake.solvers.evolution.excerpt import MAX_LINES
from evolake.solvers.evolution.planning import (
    Base,
    KnownVariant,
    SearchRecord,
    parent_pool,
    plan_variants,
    standings,
)
from evolake.solvers.evolution.planning_facts import family_results, planner_facts
from evolake.solvers.evolution.population import empty_population
from evolake.solvers.gates.judging import output_of
from evolake.solvers.repository.variant import diff_files
from evolake.solvers.roles.planner import PLANNER
from evolake.solvers.roles.shown import ShownRules
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import RUNS

SETTINGS = SolversSettings(par2_hidden_until=33, variants_per_cycle=2)
RULES = load_rules(Path(__file__).parents[3] / "data_lake" / "seeds" / "rules", "solvers")
SEED, CHILD = "1" * 64, "2" * 64


def function(name: str, lines: int) -> str:
    return (
        f"int {name}(int x) {{\n"
        + "".join(f"    x += {number};\n" for number in range(lines))
        + "    return x;\n}\n"
    )


TEXT = (
    "// head\n"
    + function("Solver::analyze", 5)
    + "\n"
    + function("Solver::search", MAX_LINES + 50)
    + "\n"
    + function("tail", 3)
)


def changed(tmp_path: Path) -> tuple[Path, Path, str]:
    """A seed's tree, a child's, and the diff."""
    for name, text in (
        ("old", TEXT),
        ("new", TEXT.replace("x += 2;", "x += 20;", 1).replace("x += 250;", "x += 9;")),
    ):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src/a.cc").write_text(text)
    old, new = tmp_path / "old", tmp_path / "new"
    return old, new, diff_files({"src/a.cc": old / "src/a.cc"}, {"src/a.cc": new / "src/a.cc"})


def runs(suite: str = "train"):
    rows = [
        run_row(
            name,
            f"{family}-{n}",
            "sat" if name == CHILD or n else "timeout",
            1.25,
            suite=suite,
            expected="SAT",
        )
        for name in (SEED, CHILD)
        for family in ("php", "random")
        for n in range(2)
    ]
    return RUNS.frame(rows)


def world(tmp_path: Path):
    """A population of a seed and a child that a diff made, both measured."""
    old, new, diff = changed(tmp_path)
    blobs = BlobStore(tmp_path / "blobs")
    rows = [
        {
            "variant_id": SEED,
            "state": "champion",
            "cycle": "0000",
            "title": "seed",
            "base": "minisat22",
            "operator": "seed",
            "origin": "seed",
            "hypothesis": "",
            "parents": [],
            "edits": "[]",
            "archive_sha": "old",
        },
        {
            "variant_id": CHILD,
            "state": "accepted",
            "cycle": "0001",
            "title": "child",
            "base": "minisat22",
            "operator": "rewrite",
            "origin": "model",
            "hypothesis": "A larger step helps.",
            "parents": [SEED],
            "edits": None,
            "archive_sha": "new",
            "diff_sha": blobs.put(diff.encode()),
        },
    ]
    attempt = {
        "variant_id": CHILD,
        "cycle": "0001",
        "base": "minisat22",
        "changed": [],
        "outcome": "accepted",
        "gain": 0.5,
        "solved_gain": 2.0,
    }
    population = empty_population().with_tables(variants=rows, history=[attempt], runs=runs().to_dicts())
    folders = {"old": old, "new": new}

    class Adapter:
        editable = ("src/*.cc",)
        tunables = "none"
        name = "minisat22"

    known = [
        KnownVariant(SEED, "minisat22", "seed", "seed", old, ()),
        KnownVariant(CHILD, "minisat22", "child", "rewrite", new, None),
    ]
    bases = {"minisat22": Base("minisat22", old, Adapter())}
    ranking = [
        {"variant_id": name, "rank": place, "consensus": 0.1, "ucb": 0.5, "visits": 1.0}
        for place, name in enumerate((CHILD, SEED), 1)
    ]
    return population, known, bases, ranking, blobs, folders.__getitem__


class Heard(Exception):
    pass


class Ears:
    """A backend that keeps the one request."""

    name, threads, heard = "model", 1, None

    def warm(self, job):
        return True

    def close(self):
        pass

    def ask(self, job, record):
        self.heard = job.request
        raise Heard


@pytest.mark.parametrize(("cycle", "shown"), [("0002", False), ("0040", True)])
def test_every_fact_is_in_the_planners_request(tmp_path, cycle, shown):
    from evolake.agents import Agents

    population, known, bases, ranking, blobs, folder_of = world(tmp_path)
    pool = parent_pool(known, bases, ranking=ranking, metrics=[], settings=SETTINGS, cycle=cycle)
    facts = planner_facts(population, pool, RULES, blobs, folder_of, settings=SETTINGS, cycle=cycle)
    ears = Ears()
    with Agents(ears, line="solvers", cycle=cycle) as agents, pytest.raises(Heard):
        plan_variants(
            agents,
            pool,
            SearchRecord(population.attempts(), facts=facts),
            ShownRules(),
            settings=SETTINGS,
            seeds=CycleSeeds(1, "solvers", cycle),
        )
    text = build_messages(PLANNER, ears.heard)[1]["content"]
    assert "+    x += 20;" in text and "-    x += 2;" in text, "the diff of what was tried"
    assert "src/a.cc: Solver::analyze, Solver::search" in text, "where it was tried"
    assert "Solver::analyze:2" in text, "files with their functions"
    code = text.partition("# The code")[2].partition("\n# ")[0]
    assert "    return x;" in code and code.count("int Solver::analyze(int x) {") == 1, "a whole function"
    assert "Chronological backtracking pays" not in text, "what any textbook says"
    assert f"php (2):\n  {CHILD[:12]}: solved 2, " in text, "results by family"
    assert ("PAR-2 1.25 s" in text) is shown, "PAR-2 by family only from its cycle on"
    assert (
        f"{CHILD[:12]} | {SEED[:12]} | accepted | rank +0.50, solved +2 |  | child / A larger step helps."
        in text
    ), "what was tried"
    assert "characters cut here" not in text


def test_a_family_says_what_share_of_its_proofs_was_checked(tmp_path):
    _, known, _, ranking, _, _ = world(tmp_path)
    lines = standings(known, ranking=ranking, metrics=[], settings=SETTINGS, cycle="0002")
    unchecked = {"certificate": None, "answer_checked": False, "proof_status": "unchecked", "solved": False}
    rows = [
        run_row(name, f"php-{n}", "unsat", 1.0, **(unchecked if n and name == CHILD else {}))
        for name in (SEED, CHILD)
        for n in range(4)
    ]
    only_sat = [run_row(name, "random-1", "sat", 1.0) for name in (SEED, CHILD)]
    result = family_results(
        RUNS.frame([*rows, *only_sat]), [line.variant_id for line in lines], settings=SETTINGS, cycle="0002"
    )
    assert [(item.family, item.solved, item.checked) for item in result] == [
        ("php", {CHILD[:12]: 1.0, SEED[:12]: 4.0}, {CHILD[:12]: 0.25, SEED[:12]: 1.0}),
        ("random", {CHILD[:12]: 1.0, SEED[:12]: 1.0}, {}),
    ]


def test_all_of_the_papers_table_reaches_planner_and_coder():
    row = {
        "variant_id": SEED,
        "suite": "train",
        "instances": 9,
        "instances_sat": 5,
        "instances_unsat": 4,
        "solved": 7.0,
        "solved_sat": 4.0,
        "solved_unsat": 3.0,
        "vbs_match": 8,
        "vbs_mismatch": 0,
        "fastest": 2,
        "unproved": 1,
        "checked_share": 0.75,
        "failed": 0,
        "memory_mean_mb": 10.0,
        "memory_max_mb": 99.0,
        "additionally_solved": 3,
        "par2": 1.5,
        "par2_sat": 1.25,
        "par2_unsat": 1.75,
        "wrong": 0,
        **{f"solved_within_{share}": float(share) for share in (6, 12, 20, 40, 60, 90)},
    }
    known = [KnownVariant(SEED, "b", "seed", "seed", Path("x"), ())]
    hidden, summary = (
        standings(known, ranking=[], metrics=[row], settings=SETTINGS, cycle=cycle)[0]
        for cycle in ("0001", "0033")
    )
    shared = set(row) & set(type(summary).model_fields) - {"variant_id"}
    assert len(shared) == 17 and summary.model_dump(include=shared) == {name: row[name] for name in shared}
    assert (summary.best_of_all, summary.vbs_match, summary.memory_max_mb, summary.additionally_solved) == (
        2,
        8,
        99.0,
        3,
    )
    assert summary.solved_within == {f"{share}%": float(share) for share in (6, 12, 20, 40, 60, 90)}
    assert (hidden.par2, hidden.par2_sat, hidden.par2_unsat) == (None, None, None)


def verdict(outcome: str, reason: str = "") -> Verdict:
    return Verdict(
        artifact_id=SEED,
        cycle="0001",
        gate_no=2,
        gate="smoke",
        rule_id="r",
        rule_version=1,
        ruleset_hash="h",
        outcome=outcome,
        reason=reason,
        evidence_sha=None,
        run_id="run",
    )


def test_what_a_crashed_run_wrote_is_told_that_of_the_named_formula_first():
    complaints = {"a~renamed": "Assertion `x' failed", "b": "std::bad_alloc", "a": "Assertion `x' failed"}
    assert output_of([verdict("pass")], complaints) == ""
    assert (
        output_of([verdict("pass"), verdict("block", "b~renamed: crashed")], complaints)
        == "b:\nstd::bad_alloc\n\na:\nAssertion `x' failed"
    )
