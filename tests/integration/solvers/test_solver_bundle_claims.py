"""What a bundle states of a solver is measured again: the two of its duel meet here, on formulas that nobody
knew before."""

import json
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundle_fixtures import crown, passed, publish
from bundle_forging import exported, opened
from solver_gates import GatesProject, open_project

from evolake.bundles.container import Bundle
from evolake.bundles.model import Judging, Said
from evolake.gates import Ruleset
from evolake.lake import BlobStore, Lake
from evolake.settings import Settings
from evolake.settings import load as load_settings
from evolake.solvers.bundle_duel import LIMITS, OTHER, stated
from evolake.solvers.gates.judging import VariantResults
from evolake.solvers.gates.verifying import Verified
from evolake.solvers.measurement.benchmark import MeasuringPlan, run_limits
from evolake.solvers.measurement.duel import (
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    run_duel,
)
from evolake.solvers.measuring_again import Duel, compared, drawn, recipes_in, rows_of
from evolake.solvers.report.story import gain_of_decision
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.variant import archive_variant, source_sha
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.fresh import FreshKey, fresh_suite
from evolake.solvers.tables import DECISIONS, DUELS, VARIANTS

MAIN = "src/simp/Main.cc"
SLEEP = "{\n    volatile double lost = 0;\n    for (long i = 0; i < 250000000L; i++) lost = lost + 1;\n"
"""Some tenths of a second at the start of each run."""
SIZES = SolversSettings(train_suite="quick", train_instances=9, timeout_s=10, memory_mb=1024)


@dataclass(frozen=True)
class Honest:
    """A duel that the seed minisat22 has won from a slower solver: claims and what is stated."""

    claims: Mapping[str, Any]
    held: Mapping[str, Any]
    members: Mapping[str, bytes]
    own: Path
    judged: VariantResults
    settings: Settings


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("duel"))


@pytest.fixture(scope="module")
def honest(project, tmp_path_factory) -> Honest:
    if shutil.which("c++") is None:
        pytest.skip("no compiler")
    own, other = project.seed("minisat22"), project.copy("minisat22", "slow")
    text = (other / MAIN).read_text()
    begin = text.index("{", text.index("int main("))
    (other / MAIN).write_text(text[:begin] + SLEEP + text[begin + 1 :])
    with pytest.MonkeyPatch.context() as environment:
        # what the duel asks for, which a demo does not allow
        for name in LIMITS:
            value = getattr(SIZES, name)
            environment.setenv(f"EVOLAKE_SOLVERS__{name.upper()}", str(value))
        settings = load_settings("demo", lake=project.root / "lake")
    blobs, folder = BlobStore(settings.require_lake()), tmp_path_factory.mktemp("formulas")
    adapter = project.adapter("minisat22")

    def contender(place: Path) -> Contender:
        return Contender(
            source_sha(place),
            open_program(build_variant(place, adapter, blobs), adapter, blobs, folder / "programs"),
        )

    first, second = contender(other), contender(own)
    suite = fresh_suite(
        "quick", blobs, folder, FreshKey(bytes(32), 0, "0001"), seeds=settings.seeds, count=9, trees=None
    )
    with ThreadPoolExecutor(1) as executor:
        rows = run_duel(
            DuelPlan(first, second, suite, "0001", 1), MeasuringPlan(run_limits(10, 1024, 128)), executor
        )
    decision = decide_duel(DUELS.frame(rows), decision_rng(0, "0001", second.variant_id))
    assert decision.wins, decision.reason
    file = exported_champion(
        Lake(settings.require_lake()),
        {second.variant_id: own, first.variant_id: other},
        rows,
        decision.row("0001"),
        folder,
    )
    whole = opened(file)
    claims, held = json.loads(whole.members["claims.json"]), whole.facts["champion"]
    assert claims["root_seed"] == 0 and held["gain"]["against"] == "slow"
    judged = project.judge(own, "minisat22", stop_at="build")
    return Honest(claims, held, whole.members, own, judged, settings)


def exported_champion(
    lake: Lake, folders: Mapping[str, Path], trials: Any, decision: Mapping[str, Any], out: Path
) -> Path:
    """The bundle of the first of these variants, which has won the duel with the second."""
    titles = dict(zip(folders, ("minisat22", "slow"), strict=True))
    rows: list[dict[str, Any]] = [
        {
            "variant_id": name,
            "cycle": "0000",
            "state": "accepted",
            "title": titles[name],
            "base": "minisat22",
            "operator": "seed",
            "archive_sha": archive_variant(place, lake.blobs),
            "parents": [],
        }
        for name, place in folders.items()
    ]
    publish(lake, "solvers", "incoming_variants", VARIANTS, rows, "0002")
    publish(lake, "solvers", "champion", DECISIONS, [decision])
    publish(lake, "solvers", "champion_trials", DUELS, trials)
    known = [
        {
            "artifact_id": row["variant_id"],
            "kind": "variant",
            "title": row["title"],
            "content_sha": row["archive_sha"],
        }
        for row in rows
    ]
    crown(
        lake,
        "solvers",
        known[0],
        passed("solvers", known[0]["artifact_id"]),
        0.1,
        others=[known[1] | {"state": "accepted"}],
    )
    return exported(lake.root, "solvers", out / "champion.tar", EVOLAKE_PROFILE="demo")


def copied(honest: Honest) -> tuple[dict[str, Any], dict[str, Any]]:
    return json.loads(json.dumps(honest.claims)), json.loads(json.dumps(honest.held))


def check(
    honest: Honest,
    claims: Mapping[str, Any],
    held: Mapping[str, Any],
    folder: Path,
    members: Mapping[str, bytes] | None = None,
) -> list[Said]:
    """What the statement comes to, without the gates."""
    facts = {"artifact_id": source_sha(honest.own), "champion": held}
    rules = Ruleset("solvers", ())
    bundle = Bundle(facts, {**honest.members, **(members or {})}, "")
    judging = Judging(bundle, honest.settings, rules, rules, None, folder, honest.settings.require_lake())
    duel = Duel.model_validate(claims["duel"]) if claims["duel"] else None
    verified = Verified(honest.own, "smoke", honest.judged, "")
    return list(
        stated(judging, duel, SIZES.model_dump(mode="json"), claims["root_seed"], verified, honest.settings)
    )


def restated(honest: Honest, claims: Mapping[str, Any], held: dict[str, Any]) -> None:
    """State what follows from the claims, as a careful forger would."""
    own, other = source_sha(honest.own), held["gain"]["against_id"]
    decision = decide_duel(
        DUELS.frame(rows_of(Duel.model_validate(claims["duel"]), own, other)), decision_rng(0, "0001", own)
    )
    held["gain"] = replace(gain_of_decision(decision.row("0001")), against=held["gain"]["against"]).to_json()


def test_an_honest_gain_is_measured_again_on_formulas_that_are_drawn_here(honest, tmp_path):
    claims, held = copied(honest)
    said = check(honest, claims, held, tmp_path)
    assert [(item.outcome, item.gain) for item in said] == [
        ("unmeasured", False),
        ("recomputed", False),
        ("holds", True),
        ("note", False),
    ], said
    assert "the seed minisat22" in said[-1].what and said[0].what == "score"


def test_times_that_were_changed_are_not_reached_here(honest, tmp_path):
    claims, held = copied(honest)
    for row in claims["duel"]["trials"]:
        if row["part"] == "champion":
            row["cpu_s"] = min(9.9, row["cpu_s"] * 40)
    restated(honest, claims, held)
    said = next(item for item in check(honest, claims, held, tmp_path) if item.gain)
    assert (said.outcome, said.gain, "not reached on formulas drawn here" in said.said) == (
        "fails",
        True,
        True,
    ), said


def other_text(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["text"] = held["gain"]["text"].replace("times", "hundred times")


def no_noise(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["noise_floor"] = 1000.0


def no_duel(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["duel"] = None


def formulas_dropped(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """The first formula of the suite, on which it was worst."""
    first = claims["duel"]["trials"][0]["instance"]
    claims["duel"]["trials"] = [row for row in claims["duel"]["trials"] if row["instance"] != first]


def runs_of_the_other_dropped(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["duel"]["trials"] = claims["duel"]["trials"][:-1]


def a_run_twice(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["duel"]["trials"].append(claims["duel"]["trials"][0])


def solved_without_a_certificate(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["duel"]["trials"][1].update(status="timeout", certificate=None)


def easy_formulas(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """Formulas of no suite in place of the hard ones."""
    for row in claims["duel"]["trials"]:
        row["instance"] = f"easy-{row['instance']}"


FORGERIES = {
    "text of the gain": (other_text, "the gain that is stated is not that of its evaluations: text"),
    "noise": (no_noise, "the gain that is stated is not that of its evaluations: noise_floor"),
    "no duel": (no_duel, "no runs of their duel"),
    "runs dropped": (runs_of_the_other_dropped, "its duel lacks 1 run"),
    "a run twice": (a_run_twice, "twice"),
    "certificate": (solved_without_a_certificate, "without a model or proof"),
}
OF_FORMULAS = {"formulas dropped": formulas_dropped, "easy formulas": easy_formulas}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_statement_that_does_not_follow_from_the_duel_is_refused(honest, name, tmp_path):
    change, reason = FORGERIES[name]
    claims, held = copied(honest)
    change(claims, held)
    said = check(honest, claims, held, tmp_path)[-1]
    assert (said.outcome, said.gain, reason in said.said) == ("fails", True, True), said


@pytest.mark.parametrize("name", OF_FORMULAS)
def test_formulas_that_are_not_those_of_a_suite_are_refused(honest, name, tmp_path):
    claims, held = copied(honest)
    OF_FORMULAS[name](claims, held)
    restated(honest, claims, held)
    said = check(honest, claims, held, tmp_path)[-1]
    reasons = ("are not the first", "by the runs in the bundle it did not win")
    assert (said.outcome, any(reason in said.said for reason in reasons)) == ("fails", True), said


def test_a_slowed_solver_that_is_called_a_seed_is_refused(honest, tmp_path):
    claims, held = copied(honest)
    held["gain"]["against"] = "minisat22"
    restated(honest, claims, held)
    said = check(honest, claims, held, tmp_path)[-1]
    assert (said.outcome, "is not the seed of that name" in said.said) == ("fails", True), said


def test_another_solver_than_the_one_that_is_named_is_refused(honest, project, tmp_path):
    claims, held = copied(honest)
    blobs = BlobStore(tmp_path / "blobs")
    said = check(honest, claims, held, tmp_path, {OTHER: blobs.get(archive_variant(honest.own, blobs))})[-1]
    assert (said.what, said.outcome) == ("the other solver", "fails"), said


def test_a_duel_on_a_suite_that_is_not_here_is_not_called_measured_again(honest):
    duel = Duel.model_validate(honest.claims["duel"])
    assert recipes_in(duel, "competition:2025", honest.settings.seeds) == recipes_in(
        duel, "quick", honest.settings.seeds
    )
    renamed = Duel(
        cycle="0001", trials=[row.model_copy(update={"instance": f"x-{row.instance}"}) for row in duel.trials]
    )
    assert recipes_in(renamed, "competition:2025", honest.settings.seeds) is None


def test_a_sample_has_enough_formulas_to_decide(honest):
    recipes = recipes_in(Duel.model_validate(honest.claims["duel"]), "quick", honest.settings.seeds)
    assert recipes is not None and not isinstance(recipes, str)
    assert (len(drawn(recipes, 1).names), drawn(recipes, None), drawn(recipes, 100)) == (8, recipes, recipes)
    assert set(drawn(recipes, 1).names) < set(recipes.names)


def decided(ratios: list[float]) -> Decision:
    """The decision of a duel in which the other took so many seconds on formulas of one second."""
    rows = [
        {
            "cycle": "c",
            "champion_id": "a",
            "challenger_id": "b",
            "instance": f"f{number}@c",
            "formula": f"f{number}",
            "pair": 0,
            "part": part,
            "place": 0,
            "variant_id": "a" if part == "champion" else "b",
            "status": "sat",
            "solved": True,
            "certificate": "model",
            "cpu_s": seconds,
            "timeout_s": 100.0,
        }
        for number, ratio in enumerate(ratios)
        for part, seconds in (("champion", ratio), ("challenger", 1.0))
    ]
    return decide_duel(DUELS.frame(rows), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("here", "outcome"),
    [
        ([1.9, 2.2, 2.0, 1.8, 2.1, 2.3, 1.7, 2.0, 2.1], "holds"),
        ([1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.1, 0.9, 1.0], "fails"),
        ([4.0, 0.6, 3.5, 0.7, 5.0, 0.5, 2.0, 1.5, 0.9], "open"),
    ],
)
def test_a_ratio_of_times_must_be_reached_on_most_recipes(here, outcome):
    before = {f"f{number}": float(np.log(2.0 + 0.05 * number)) for number in range(9)}
    now = {f"f{number}": float(np.log(ratio)) for number, ratio in enumerate(here)}
    said = compared(before, now, decided(here), {"estimate": 2.2})
    assert (said.outcome, said.gain) == (outcome, True), said
