"""Merging the best designs of one real lake into another."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from evolake.designs.commands import merge as merge_command
from evolake.designs.evolution.line_state import rank_designs, standings
from evolake.designs.evolution.merge import (
    admit_merges,
    admitted_objectives,
    entered_merges,
    genealogy,
    import_lake,
    pending_merges,
)
from evolake.designs.evolution.objective_writing import derivation_rows as objective_derivation_rows
from evolake.designs.evolution.objective_writing import initial_objectives, judged_rows
from evolake.designs.evolution.population import Population, archive_asset, empty_population, texts_of
from evolake.designs.evolution.proposals import (
    Candidate,
    Judge,
    derivation_rows,
    design_row,
    judged,
    seed_candidate,
    store_candidate,
)
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import propose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.settings import DesignsSettings
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.objectives.programs.compose import compose as compose_program
from evolake.objectives.programs.expression import to_json
from evolake.objectives.source import objective_id


@dataclass(frozen=True)
class Workspace:
    """A lake with a sealed population."""

    lake: Lake
    population: Population


def grown(root: Path, judge: Judge, seed: int, children: int) -> Workspace:
    """A baseline and a line of children, each of a random earlier design, ranked youngest first, with
    objectives; sealed for cycle 0002."""
    lake, population = Lake(root), empty_population().add(objectives=portfolio(seed))
    first = seed_candidate("baseline", compose(baseline()), {}, judge, baseline())
    population = population.admit([design_row(first, "0001", *store_candidate(lake.blobs, first))], [])
    random = np.random.default_rng(seed)
    for _ in range(children):
        live = population.live_ids()
        parents = [
            population.parent(live[int(place)], texts_of(lake))
            for place in random.integers(len(live), size=2)
        ]
        child = propose(parents, population.keys(), random)
        assert child is not None
        made = Candidate(
            child.source,
            child.hyper,
            child.genome,
            child.title,
            child.operator,
            "operators",
            child.rationale,
            None,
            child.weights,
        )
        made = judged(made, population.graphs(), judge)
        population = population.admit(
            [design_row(made, "0001", *store_candidate(lake.blobs, made))], derivation_rows(made, "0001")
        )
    order = list(reversed(population.live_ids()))
    consensus = {design_id: place / len(order) for place, design_id in enumerate(order)}
    population = population.with_ranking(rank_designs(population, consensus, order, "0001"))
    return sealed(lake, population, lake)


def sealed(lake: Lake, population: Population, blobs: Lake) -> Workspace:
    """A lake with this population sealed for cycle 0002; texts come from the lake `blobs`."""
    for sha in {*population.designs["source_sha"], *population.designs["traced_sha"]}:
        lake.blobs.put(blobs.blobs.get(sha))
    tables = {
        archive_asset(name): lake.publish(
            "designs", archive_asset(name), frame, cycle="0002", run_id="test"
        ).content_sha
        for name, frame in population.frames().items()
    }
    lake.seals.seal("designs", "0001", "v1", None, "test")
    lake.seals.seal("designs", "0002", "v2", "v1", "test", tables)
    return Workspace(lake, population)


def portfolio(seed: int) -> list[dict[str, Any]]:
    """A starting portfolio, a program of one of its objectives, one blocked program, and a program that this
    one was mended to."""
    rows = initial_objectives(DesignsSettings(), cycle="0001", root_seed=seed)
    first = rows[1]["objective_id"]
    made = [
        (("mean", ("log", "steps")), "accepted", {first: 1.0}),
        (("mean", "n"), "blocked", {first: 1.0}),
        (
            ("sub", ("last", ("log", "steps")), ("log", "reach")),
            "accepted",
            {objective_id(compose_program(("mean", "n"))): 1.0},
        ),
    ]
    for program, state, parents in made:
        source = compose_program(program)
        rows.append(
            rows[0]
            | {
                "objective_id": objective_id(source),
                "source": source,
                "family": "program",
                "parameters": "{}",
                "state": state,
                "origin": "operators",
                "operator": "subtree",
                "genome": to_json(program),
                "parents": json.dumps(parents),
                "reason": "why" if state == "blocked" else None,
            }
        )
    return rows


@pytest.fixture(scope="module")
def other(tmp_path_factory, judge_once) -> Workspace:
    return grown(tmp_path_factory.mktemp("other"), judge_once, seed=1, children=7)


@pytest.fixture
def here(tmp_path, judge_once) -> Workspace:
    return grown(tmp_path / "here", judge_once, seed=2, children=2)


def test_the_best_come_in_with_all_their_ancestors_edges_and_blobs(here, other, judge_at):
    result = import_lake(here.lake, other.lake.root, top=3)
    top = [row["design_id"] for row in standings(other.population)][:3]
    assert (result.chosen, result.new, result.since_cycle, result.source_cycle) == (top, True, "0002", "0002")
    admitted = admit_merges(here.lake, here.population, judge_at("0002"), "0002")
    merged = admitted.population
    own = set(here.population.designs["design_id"])
    states = {
        row["design_id"]: row["state"] for row in merged.designs.to_dicts() if row["design_id"] not in own
    }
    assert set(states) == genealogy(top, other.population.edges()) - own
    assert set(states.values()) == {"accepted"}, "all were alive there"
    assert result.alive == result.ancestors == len(genealogy(top, other.population.edges())) - len(top) > 0
    edges = set(merged.edges())
    for child in states:
        for edge in other.population.edges():
            if edge[0] == child:
                assert edge in edges
                assert edge[1] in set(merged.designs["design_id"])
    for row in merged.designs.to_dicts():
        assert here.lake.blobs.has(row["source_sha"]) and here.lake.blobs.has(row["traced_sha"])
    for design_id in states:
        assert merged.row(design_id)["imported_from"] == other.lake.root.name
    assert {verdict.artifact_id for verdict in admitted.verdicts} == set(states)
    assert set(merged.unmeasured()) >= set(states)
    assert len(standings(merged)) == len(standings(here.population)) + len(states)


def test_ancestors_stay_alive_as_they_were_there_the_best_first_up_to_a_limit(
    here, other, judge_at, tmp_path
):
    own = set(here.population.designs["design_id"])
    ranked = [row["design_id"] for row in standings(other.population)]
    ancestors = [name for name in ranked[3:] if name in genealogy(ranked[:3], other.population.edges())]
    assert len(ancestors) > 1
    result = import_lake(here.lake, other.lake.root, top=3, alive=1)
    merged = admit_merges(here.lake, here.population, judge_at("0002"), "0002").population
    states = {name: merged.row(name)["state"] for name in ancestors if name not in own}
    assert states == {
        name: "accepted" if name == ancestors[0] else "retired" for name in ancestors if name not in own
    }
    assert result.alive == 1
    dead = sealed(
        Lake(tmp_path / "dead"), other.population.with_states({ancestors[0]: "retired"}), other.lake
    )
    second = grown(tmp_path / "second", judge_at("0001"), seed=3, children=0)
    assert import_lake(second.lake, dead.lake.root, top=3, alive=20).alive == len(ancestors) - 1
    merged = admit_merges(second.lake, second.population, judge_at("0002"), "0002").population
    assert merged.row(ancestors[0])["state"] == "retired"


def test_objectives_come_in_by_the_gate_with_their_ancestors_and_what_is_here_is_no_second_one(
    here, other, judge_objectives
):
    result = import_lake(here.lake, other.lake.root, top=1)
    theirs = {row["objective_id"]: row for row in other.population.objectives.to_dicts()}
    own = set(here.population.objectives["objective_id"])
    assert result.objectives == sum(row["state"] == "accepted" for row in theirs.values())
    assert admitted_objectives(here.lake, here.population, set(), "0002") == ([], [])
    voted, blocked = admitted_objectives(here.lake, here.population, {result.bundle_id}, "0002")
    assert {row["objective_id"] for row in voted} == {
        name for name, row in theirs.items() if row["state"] == "accepted"
    } - own
    assert own & set(theirs), "the baseline and the programs are in both"
    nobody = empty_population()
    voted, blocked = admitted_objectives(here.lake, nobody, {result.bundle_id}, "0002")
    assert [row["objective_id"] for row in blocked] == [
        name for name, row in theirs.items() if row["state"] == "blocked"
    ]
    done = judged_rows(voted, judge_objectives(nobody))
    added = nobody.add(objectives=[*blocked, *done.rows])
    for row in added.objectives.to_dicts():
        same = ("objective_id", "source", "family", "genome", "parents", "operator", "state", "reason")
        assert {name: row[name] for name in same} == {
            name: theirs[row["objective_id"]][name] for name in same
        }
        assert (row["imported_from"], row["origin"], row["cycle"], row["created_round"]) == (
            other.lake.root.name,
            "merge",
            "0002",
            2,
        )
    edges = {
        (edge["child_id"], edge["parent_id"]): edge["weight"] for edge in objective_derivation_rows(done.rows)
    }
    voting = [(name, row) for name, row in theirs.items() if row["state"] == "accepted"]
    assert edges == {
        (name, parent): 1.0 for name, row in voting for parent in json.loads(row["parents"] or "{}")
    }
    assert {verdict.artifact_id for verdict in done.verdicts} == {row["objective_id"] for row in voted}
    assert admitted_objectives(here.lake, added, {result.bundle_id}, "0002") == ([], [])


def test_a_bundle_is_taken_in_once(here, other, judge_at):
    first = import_lake(here.lake, other.lake.root, top=2)
    before = here.lake.record("designs", "merged")
    second = import_lake(here.lake, other.lake.root, top=2)
    assert (second.new, second.bundle_id) == (False, first.bundle_id)
    assert here.lake.record("designs", "merged") == before
    once = admit_merges(here.lake, here.population, judge_at("0002"), "0002")
    assert once.bundles == [first.bundle_id]
    assert pending_merges(here.lake, once.population, "0002") == []
    assert entered_merges(here.lake, here.population, once.population, "0002") == {first.bundle_id}
    assert entered_merges(here.lake, here.population, here.population, "0002") == set(), (
        "a bundle that came while the cycle opened is the next one's"
    )
    twice = admit_merges(here.lake, once.population, judge_at("0003"), "0003")
    assert twice.population is once.population
    assert (twice.designs, twice.derivations, twice.verdicts, twice.bundles) == ([], [], [], [])


def test_a_cycle_that_began_before_the_merge_does_not_see_it(here, other):
    import_lake(here.lake, other.lake.root, top=1)
    assert pending_merges(here.lake, here.population, "0001") == []
    assert len(pending_merges(here.lake, here.population, "0002")) >= 1
    assert len(pending_merges(here.lake, here.population, "0005")) >= 1


def test_seals_and_published_parts_stay_as_they_were(here, other):
    seals = [here.lake.seals.read("designs", cycle) for cycle in ("0001", "0002")]
    parts = {asset: here.lake.record("designs", asset, "0002") for _, asset in here.lake.assets()}
    import_lake(here.lake, other.lake.root, top=2)
    assert [here.lake.seals.read("designs", cycle) for cycle in ("0001", "0002")] == seals
    assert {asset: here.lake.record("designs", asset, "0002") for asset in parts} == parts
    assert here.lake.seals.broken_link("designs", "0002") is None


def test_nothing_of_the_other_lake_changes(here, other):
    before = sorted(
        (str(path), path.stat().st_mtime_ns) for path in other.lake.root.rglob("*") if path.is_file()
    )
    import_lake(here.lake, other.lake.root, top=2)
    assert (
        sorted((str(path), path.stat().st_mtime_ns) for path in other.lake.root.rglob("*") if path.is_file())
        == before
    )


def test_what_the_own_gates_refuse_does_not_live(here, other, judge_at):
    result = import_lake(here.lake, other.lake.root, top=1)
    strict = judge_at("0002")

    def refuse(source, hyper, known):
        return strict("this is no design", {}, known)

    admitted = admit_merges(here.lake, here.population, refuse, "0002")
    assert admitted.population.row(result.chosen[0])["state"] == "retired"
    assert result.chosen[0] not in admitted.population.live_ids()
    assert any(verdict.outcome == "block" for verdict in admitted.verdicts)
    assert any(
        row["state"] == "blocked" and row["imported_from"] == other.lake.root.name for row in admitted.designs
    )


@pytest.mark.parametrize("what", ["missing", "a file", "empty", "itself"])
def test_what_is_no_other_lake_is_the_users_mistake(what, here, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    path = {
        "missing": tmp_path / "nowhere",
        "a file": tmp_path / "file",
        "empty": tmp_path / "empty",
        "itself": here.lake.root,
    }[what]
    with pytest.raises(InputError):
        import_lake(here.lake, path)
    assert here.lake.record("designs", "merged") is None
    assert not list((tmp_path / "empty").iterdir())


def test_the_command_prints_one_object_and_says_when_nothing_changed(here, other, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(here.lake.root))
    results = [
        CliRunner().invoke(
            merge_command, [str(other.lake.root), "--top", "2", "--json"], standalone_mode=False
        )
        for _ in range(2)
    ]
    first, second = (json.loads(result.output) for result in results)
    assert first["verdict"] == second["verdict"] == "merged"
    assert (first["new"], second["new"]) == (True, False)
    assert first["designs"] == [row["design_id"] for row in standings(other.population)][:2]
    assert first["reasons"] == [] and second["reasons"] == ["this bundle was merged before; nothing changed"]
