"""What a bundle states of a program is measured again: by noise of this machine, and under seeds that nobody
knew before."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundle_fixtures import improved_program_lake
from bundle_forging import answered, exported, forged, opened, typed, verified
from lent_pool import lent_pool
from programs_fixtures import apart
from scipy.stats import binomtest

from evolake.bundles.container import as_json
from evolake.bundles.measuring import DOUBT, fresh_seeds, judged
from evolake.programs.model.project import pack_files, unpack_files
from evolake.programs.report.story import gain_between

BY_SEED = """import random


def cases(seed):
    return [seed]


def score(cases, results):
    output = results[0]["output"] if results[0]["status"] == "ok" else 0.01
    return {"combined_score": output * (0.5 + random.Random(cases[0]).expovariate(1)) ** (1 if output == 1 else 1.2)}
"""  # noqa: E501
START, BETTER = "def double(x):\n    return 1\n", "def double(x):\n    return 1.5\n"
WIDE = tuple(range(1000, 1400))


@pytest.fixture(autouse=True)
def commands_share_a_jail(monkeypatch) -> None:
    monkeypatch.setattr("evolake.jail.open_pool", lent_pool)


@pytest.fixture(autouse=True)
def the_same_fresh_seeds_each_time(monkeypatch) -> None:
    """An honest statement is refused in one of a hundred cases, which no test may be."""
    monkeypatch.setattr(
        "evolake.programs.measuring_again.fresh_seeds", lambda count: list(range(5000, 5000 + count))
    )


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    """A champion whose scores depend on the seed, better than the initial program under each of three."""
    folder = tmp_path_factory.mktemp("improved")
    improved_program_lake(folder / "lake", apart(START, BY_SEED), BETTER)
    return exported(folder / "lake", "programs", folder / "champion.tar")


def restated(claims: Mapping[str, Any], held: dict[str, Any]) -> None:
    """State what follows from the claims, as a careful forger would."""
    own, initial = ({row["seed"]: row["score"] for row in claims[side]} for side in ("own", "initial"))
    stated = gain_between(
        own,
        initial,
        project=claims["project"],
        score_name="combined_score",
        higher_is_better=True,
        protected=True,
        initial_id=held["gain"]["against_id"],
        cycle=held["gain"]["cycle"],
    )
    held.update(score=sum(own.values()) / len(own), gain=stated.to_json() if stated else None)


def loud(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """The noise would excuse everything; the initial program would have scored next to nothing."""
    claims["noise"] = 1000.0
    for row in claims["initial"]:
        row.update(score=0.01, metrics={"combined_score": 0.01})
    restated(claims, held)


def better_text(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["text"] = held["gain"]["text"].replace("times", "hundred times")


def better_estimate(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["estimate"] = 9.0


def no_rows(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims.update(own=[], initial=[])


def no_rows_of_the_initial_program(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["initial"] = []


def fewer_rows_of_the_initial_program(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """Only where it did worst."""
    claims["initial"] = sorted(claims["initial"], key=lambda row: row["score"])[:1]


def one_row_twice(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["own"].append(claims["own"][0])


def better_scores(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["noise"] = 1000.0
    for row in claims["own"]:
        row.update(score=row["score"] * 2, metrics={"combined_score": row["score"] * 2})
    restated(claims, held)


def another_rival(claims: dict[str, Any], held: dict[str, Any]) -> None:
    held["gain"]["against_id"] = "f" * 64


FORGERIES = {
    "noise": (loud, "under seed"),
    "text of the gain": (better_text, "the gain that is stated is not that of its evaluations: text"),
    "estimate": (better_estimate, "the gain that is stated"),
    "held-out rows": (no_rows, "its held-out evaluations come to None"),
    "rows of the initial program": (no_rows_of_the_initial_program, "no evaluation of that under 3 seeds"),
    "fewer rows of the initial program": (
        fewer_rows_of_the_initial_program,
        "no evaluation of that under 2 seeds",
    ),
    "a row twice": (one_row_twice, "twice"),
    "scores": (better_scores, "under seed"),
    "rival": (another_rival, "against_id"),
}


def test_an_honest_bundle_holds(honest):
    assert verified(honest, "--all") == (0, "")
    assert verified(honest, "--sample", "1") == (0, "")


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_statement_is_refused_with_its_reason(honest, name, tmp_path):
    change, said = FORGERIES[name]
    code, reason = verified(forged(honest, tmp_path / "forged.tar", change), "--all")
    assert (code, said in reason) == (1, True), reason


def project_with(file: Path, changes: Mapping[str, Callable[[str], str]]) -> dict[str, bytes]:
    """The member with the project, of which some files are others."""
    files = unpack_files(opened(file).members["project.json"])
    changed = {name: change(files[name].decode()).encode() for name, change in changes.items()}
    return {"project.json": pack_files(files | changed)}


def scaled(text: str) -> str:
    return text.replace('"combined_score": output', '"combined_score": 100 * output')


def recognising(text: str) -> str:
    """It gives little to what the initial program returns."""
    return text.replace("output if output", "(0.01 if output == 1 else output) if output").replace(
        '["output"] if results', '["output"] ** 9 if results'
    )


def worse(text: str) -> str:
    return text.replace("return 1", "return 0.01")


EVALUATED_BY = {"scaled": {"evaluator.py": scaled}, "recognising": {"evaluator.py": recognising}}
OTHERS = EVALUATED_BY | {"worse initial program": {"initial_program.py": worse}}


@pytest.mark.parametrize("name", OTHERS)
def test_another_evaluator_or_initial_program_is_not_what_the_identity_names(honest, name, tmp_path):
    members = project_with(honest, OTHERS[name])
    assert members["project.json"] != opened(honest).members["project.json"]
    code, reason = verified(forged(honest, tmp_path / "a.tar", members=members, careful=False), "--all")
    assert (code, reason.startswith("identity: the ")) == (1, True), reason


@pytest.mark.parametrize("name", EVALUATED_BY)
def test_an_identity_that_was_forged_too_is_refused_where_the_task_is_known(honest, name, tmp_path):
    """Elsewhere the first line says that the evaluator is not known."""
    file = forged(honest, tmp_path / "a.tar", members=project_with(honest, EVALUATED_BY[name]))
    assert typed("verify", str(honest), lake=honest.parent / "lake").returncode == 0
    done = typed("verify", str(file), lake=honest.parent / "lake")
    assert done.returncode == 1 and "is not the project toy of the lake in force" in done.stdout
    named = opened(honest).facts["identity"]["sha256"]
    assert verified(honest, "--identity", named)[0] == 0
    code, reason = verified(file, "--identity", named)
    assert code == 1 and "its identity is" in reason
    done = typed("verify", str(honest), lake=tmp_path / "none")
    assert "holds, by an evaluator that is not known here" in done.stdout.splitlines()[0]


def test_a_lineage_must_begin_with_the_initial_program(honest, tmp_path):
    members = project_with(honest, {"initial_program.py": worse})
    code, reason = verified(forged(honest, tmp_path / "a.tar", members=members))
    assert code == 1 and "the initial program has the id" in reason and "it begins with" in reason


def test_rules_that_were_loosened_are_not_those_of_the_identity(honest, tmp_path):
    name, data = next(
        (name, data) for name, data in opened(honest).members.items() if name.startswith("rules/")
    )
    members = {name: data + b"\n"}
    code, reason = verified(forged(honest, tmp_path / "a.tar", members=members, careful=False))
    assert code == 1 and reason.startswith("identity: the rules in it")


@pytest.mark.parametrize("limit", ["memory_mb", "cpu_s", "wall_s", "processes"])
def test_what_an_evaluation_may_take_is_said_by_this_machine(honest, limit, tmp_path):
    def greedy(text: str) -> str:
        kept = "\n".join(line for line in text.splitlines() if not line.startswith(limit))
        return f"{kept}\n{limit} = 5000\n"

    file = forged(honest, tmp_path / "a.tar", members=project_with(honest, {"project.toml": greedy}))
    code, reason = verified(file)
    assert code == 3 and f"the bundle asks for {limit} 5000" in reason and "EVOLAKE_PROGRAMS__" in reason


def test_settings_of_the_bundle_allow_nothing_and_those_of_this_machine_do(honest, tmp_path):
    def greedy(claims: dict[str, Any], held: dict[str, Any]) -> None:
        claims["settings"]["memory_mb"] = 5000

    file = forged(honest, tmp_path / "a.tar", greedy)
    assert verified(file, "--sample", "1")[0] == 3
    assert verified(file, "--sample", "1", EVOLAKE_PROGRAMS__MEMORY_MB="5000") == (0, "")


def test_what_nothing_depends_on_is_the_senders_word_and_printed_escaped(honest, tmp_path):
    def loud(claims: dict[str, Any], held: dict[str, Any]) -> None:
        claims["noise"] = 7.5

    odd = "\x1b[2Jbest\u202e of all\nverified by evolake"
    there = {"evolake": "1\x1b]0;x\x07", "python": "3", "machine": "m", "system": "s", "packages": {}}
    file = forged(honest, tmp_path / "a.tar", loud, {"environment.json": as_json(there)}, title=odd)
    done = typed("verify", str(file), lake=tmp_path / "none")
    assert done.returncode == 0
    assert not any(character in done.stdout for character in "\x1b\x07\u202e")
    words = [line for line in done.stdout.splitlines() if line.strip().startswith("the sender's word")]
    assert [line.split(":")[0].split()[-1] for line in words] == [
        "title",
        "environment",
        "noise",
        "evaluator",
    ]
    assert "x1b[2Jbest" in words[0] and "7.5" in words[2]
    assert "best" not in done.stdout.splitlines()[0]
    assert {item["what"] for item in answered(file)[1]["senders_word"]} >= {"title", "environment", "noise"}


TIMED = BY_SEED.replace("return {", 'import time\n    return {"seconds": time.time(), ')


def test_a_side_metric_that_varies_excuses_no_other_score(tmp_path):
    """An honest bundle with times holds; a changed score is found, though its metrics are never the same
    twice."""
    improved_program_lake(tmp_path / "lake", apart(START, TIMED), BETTER)
    file = exported(tmp_path / "lake", "programs", tmp_path / "timed.tar")
    assert verified(file, "--all") == (0, "")

    def changed(claims: dict[str, Any], held: dict[str, Any]) -> None:
        claims["search"][0].update(score=9.0)
        claims["search"][0]["metrics"].update(combined_score=9.0)

    code, reason = verified(forged(file, tmp_path / "forged.tar", changed), "--all")
    assert code == 1 and "it claims 9, and measured is" in reason


@pytest.mark.parametrize("kept", [1, 3])
def test_seeds_that_were_chosen_for_their_scores_are_no_help(kept, tmp_path):
    """The best of four hundred, with everything else as it was measured there."""
    chosen = sorted(WIDE, key=lambda seed: -random.Random(seed).expovariate(1))[:kept]
    improved_program_lake(tmp_path / "lake", apart(START, BY_SEED), BETTER, chosen)
    code, reason = verified(exported(tmp_path / "lake", "programs", tmp_path / "b.tar"), "--all")
    assert (code, ("rests on 1 seed" if kept == 1 else "not reached") in reason) == (1, True), reason


FRESH = [0.8, 1.0, 1.2, 0.9, 1.1, 1.0, 0.7, 1.3, 0.95, 1.05, 0.85, 1.15]


@pytest.mark.parametrize(
    ("stated", "sign", "outcome"),
    [
        ([1.0, 0.8, 1.2], 1, "holds"),
        ([1.0, 1.1, 1.3], 1, "holds"),
        ([3.0, 3.1, 2.9], 1, "fails"),
        ([1.4, 1.35, 1.31], 1, "fails"),
        ([0.6, 0.6, 0.61], 1, "holds"),
        ([1.0, 0.8, 1.2], -1, "holds"),
        ([0.6, 0.6, 0.61], -1, "fails"),
        ([1.4, 1.4, 1.31], -1, "holds"),
    ],
)
def test_what_is_stated_must_be_reached_under_fresh_seeds(stated, sign, outcome):
    assert judged("score", stated, FRESH, sign=sign).outcome == outcome


def test_equal_scores_under_every_seed_are_reached():
    assert [judged("score", [value] * 3, [1.0] * 12).outcome for value in (1.0, 0.9, 1.1)] == [
        "holds",
        "holds",
        "fails",
    ]


@pytest.mark.parametrize(
    ("fresh", "outcome"),
    [([0.4, 0.5, 0.6] * 4, "holds"), ([-0.6, 0.7, -0.5, 0.6] * 3, "open"), ([0.0] * 12, "fails")],
)
def test_a_gain_that_fresh_seeds_do_not_show_is_not_called_reached(fresh, outcome):
    """Stated is one beyond the noise; fresh seeds show it, cannot tell, or show that there is none."""
    said = judged("gain", [0.4, 0.5, 0.6], fresh, gain={"beyond_noise": True})
    assert (said.outcome, said.gain) == (outcome, True)
    assert judged("gain", [0.4, 0.5, 0.6], fresh, gain={"beyond_noise": False}).outcome == outcome.replace(
        "open", "holds"
    )


@pytest.mark.parametrize("seeds", [3, 8])
@pytest.mark.parametrize("draw", ["normal", "exponential", "lognormal"])
def test_honest_statements_are_seldom_refused(draw, seeds):
    """Stated and fresh seeds of one distribution: at most as often as `DOUBT` says, whatever the
    distribution."""
    rng = np.random.default_rng(0)
    refused = sum(
        judged("score", getattr(rng, draw)(size=seeds).tolist(), getattr(rng, draw)(size=12).tolist()).outcome
        == "fails"
        for _ in range(400)
    )
    assert binomtest(refused, 400, DOUBT, alternative="greater").pvalue > 0.001


def test_fresh_seeds_are_others_each_time():
    assert len({*fresh_seeds(20), *fresh_seeds(20)}) == 40
