"""What a bundle states of a family: labels are voted on again, and instances under seeds that nobody knew
before have labels, too."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundle_fixtures import FAMILY, SEEDS, SMALL_FAMILIES, family_lake
from bundle_forging import answered, exported, forged, opened, repacked, verified
from lent_pool import lent_pool

from evolake.bundles.container import as_json
from evolake.families.bundle import labelled_anew
from evolake.families.model.contract import Family
from evolake.families.model.family_files import read_family
from evolake.families.sandbox.running import PRELOAD

ID = read_family(SEEDS / "families" / FAMILY).family_id


@pytest.fixture(autouse=True)
def commands_share_a_jail(monkeypatch) -> None:
    monkeypatch.setattr("evolake.jail.open_pool", lent_pool)


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("family")
    family_lake(folder / "lake")
    return exported(folder / "lake", ID[:10], folder / "family.tar")


def other_label(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["instances"][-1]["answer"] = "0"


def more_votes(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["instances"][0]["votes"] -= 1


def other_difficulty(claims: dict[str, Any], held: dict[str, Any]) -> None:
    """An easy instance that is called a hard one."""
    claims["instances"][0]["difficulty"] = 10


def one_instance_twice(claims: dict[str, Any], held: dict[str, Any]) -> None:
    claims["instances"].append(claims["instances"][0])


FORGERIES = {
    "label": (other_label, "the label is"),
    "votes": (more_votes, "its votes is"),
    "difficulty": (other_difficulty, "its instance_id is"),
    "an instance twice": (one_instance_twice, "twice"),
}


def test_an_honest_bundle_holds_under_fresh_seeds(honest):
    for words in (("--all",), ("--sample", "1")):
        code, answer = answered(honest, *words)
        assert (code, answer["reasons"], answer["gain"]) == (0, [], None)
        assert "share of instances with a label, under fresh seeds" in [
            item["what"] for item in answer["run_again"]
        ]


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_instance_is_refused_with_its_reason(honest, name, tmp_path):
    change, said = FORGERIES[name]
    code, reason = verified(forged(honest, tmp_path / "forged.tar", change), "--all")
    assert (code, said in reason) == (1, True), reason


def test_a_bundle_without_instances_says_that_none_were_voted_on_again(honest, tmp_path):
    code, answer = answered(
        forged(honest, tmp_path / "none.tar", lambda claims, _: claims.update(instances=[])), "--all"
    )
    assert (code, [item["what"] for item in answer["not_measured_again"]]) == (0, ["instances"])


def test_reviews_by_a_model_are_not_called_measured_again(honest, tmp_path):
    code, answer = answered(
        forged(honest, tmp_path / "model.tar", lambda claims, _: claims.update(backend="model")),
        "--sample",
        "1",
    )
    assert (code, [item["what"] for item in answer["not_measured_again"]]) == (0, ["reviews by a model"])


def test_without_the_evidence_of_its_gates_a_family_is_judged_all_the_same(honest, tmp_path):
    """A copy of a shipped family with a validator less, under right hashes and with no verdicts at all."""
    whole = opened(honest)
    record = json.loads(whole.members["family.json"])
    from evolake.families.model.contract import from_record

    record["validators"] = dict(list(record["validators"].items())[:1])
    faulty = from_record(record).family_id
    lineage = json.loads(whole.members["lineage.json"])
    lineage["artifacts"][-1]["artifact_id"] = faulty
    members = {name: data for name, data in whole.members.items() if not name.startswith("rules/")}
    members |= {
        "family.json": as_json(record),
        "lineage.json": as_json(lineage),
        "verdicts.json": as_json({"verdicts": [], "rules": {}}),
    }
    (tmp_path / "faulty.tar").write_bytes(repacked({**whole.facts, "artifact_id": faulty}, members))
    code, reason = verified(tmp_path / "faulty.tar", "--sample", "1")
    assert (code, "static blocks it" in reason) == (1, True), reason


def wrong_now_and_then(family: Family) -> Family:
    """Its primary is outvoted for about half of all inputs."""
    body = family.validator.replace("def solution(inputs):", "def right(inputs):")
    return replace(
        family,
        validator=f"{body}\n\ndef solution(inputs):\n    return right(inputs) + sum(inputs['cards']) % 2\n",
    )


@pytest.mark.parametrize(
    ("change", "outcome"), [(lambda family: family, "holds"), (wrong_now_and_then, "fails")]
)
def test_labels_must_be_found_under_seeds_that_nobody_knew(change, outcome):
    """As of a family that is right under the seeds of its gates alone."""
    family = change(read_family(SEEDS / "families" / FAMILY))
    with lent_pool(1, PRELOAD) as pool:
        said = labelled_anew(family, 100, pool, SMALL_FAMILIES, None)
    assert said.outcome == outcome, said
