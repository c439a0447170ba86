"""A rule is loosened in a cycle that is there: what gets further is compared with what is known now, in
Dagster, up to the blocking checks."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from families_fixtures import SEEDS, seed_family

from assets.line import loaded_rules, register_keys
from assets.rules import LOADED
from assets.store import _rules_of
from evolake.families.evolution import proposing
from evolake.families.evolution.refining import Proposal, Proposals, Refinement
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.gates.specs import GATES
from evolake.families.model.contract import Family
from evolake.families.model.similarity import Fingerprint
from evolake.gates import gates_of_assets
from evolake.gates.checkers import CHECKERS, Finding
from evolake.lake import Lake

JUDGED = tuple(gates_of_assets(GATES))
CHECK = "families.nothing_executes"
REFUSES = (
    f"---\nid: families-refuses\nversion: 1\nkind: static\ngate: execution\ncheck: {CHECK}\nparameters: "
    "{}\n---\nNothing passes.\n"
)
CLINIC, MACHINE = seed_family("clinic-queue"), seed_family("postfix-machine")


def child(family: Family, blanks: str) -> Family:
    """Another id, the same code and the same texts but for blanks."""
    return replace(family, template=family.template + blanks, parents=(CLINIC.family_id,), operator="written")


TWIN, NEW, DOUBLE = child(CLINIC, "\n"), child(MACHINE, "\n"), child(MACHINE, "\n\n")
"""Of a seed; of nothing in the archive; and of NEW."""


@dataclass(frozen=True)
class Project:
    lake: Lake
    rules: Path
    instance: dg.DagsterInstance
    defs: dg.Definitions

    def run(self, *assets: str) -> None:
        """Assets of cycle 0001 in one run with their checks; all without any. The rules are read again, as
        "Reload definitions" does."""
        os.environ.pop(LOADED, None)
        _rules_of.cache_clear()
        loaded_rules.cache_clear()
        register_keys(self.instance, "families", ["0001"])
        chosen = [dg.AssetKey(["families", asset]) for asset in assets] or None
        done = self.defs.resolve_job_def("families_cycle").execute_in_process(
            instance=self.instance, partition_key="0001", asset_selection=chosen, raise_on_error=False
        )
        failed = [
            (event.step_key, event.event_specific_data) for event in done.all_events if event.is_step_failure
        ]
        assert done.success, failed
        checks = done.get_asset_check_evaluations()
        assert checks and [check.check_name for check in checks if not check.passed] == []

    def read(self, asset: str) -> list[dict]:
        return self.lake.read("families", asset, "0001").to_dicts()

    def blocks(self) -> dict[str, tuple[str, str]]:
        """family_id -> gate and rule that block it, by the verdicts of record."""
        rows = [
            row for asset in JUDGED for row in self.read(f"{asset}__verdicts") if row["outcome"] != "pass"
        ]
        return {row["artifact_id"]: (row["gate"], row["rule_id"]) for row in rows}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Iterator[Project]:
    """A lake whose one seed is the clinic queue, and whose cycle 0001 proposes TWIN, NEW and DOUBLE."""
    shutil.copytree(SEEDS / "rules", tmp_path / "seeds" / "rules")
    shutil.copytree(SEEDS / "families" / "clinic-queue", tmp_path / "seeds" / "families" / "clinic-queue")
    given = {
        "EVOLAKE_LAKE": tmp_path / "lake",
        "EVOLAKE_SEEDS": tmp_path / "seeds",
        "EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY": "9",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(proposing, "propose_families", propose)
    monkeypatch.setitem(CHECKERS, CHECK, lambda evidence: Finding("nothing passes"))
    from pipelines.definitions import defs

    with dg.DagsterInstance.ephemeral() as instance:
        project = Project(Lake(tmp_path / "lake"), tmp_path / "seeds" / "rules" / "families", instance, defs)
        assert defs.resolve_job_def("families_seeds").execute_in_process(instance=instance).success
        yield project


def propose(agents, sources: EvolutionSources, *, judge, **rest) -> Proposals:
    """As the evolution agent would: each family compared with those accepted before it."""
    seen, proposals = list(sources.known), []
    for number, family in enumerate((TWIN, NEW, DOUBLE)):
        examined = judge(family, seen)
        seen += [examined.fingerprint] if examined.accepted else []
        proposals.append(
            Proposal(
                number,
                "written",
                Refinement((examined,), (), family if examined.accepted else None, "given up"),
            )
        )
    return Proposals(tuple(proposals), ())


def test_what_gets_past_a_loosened_rule_is_compared_with_what_is_known_and_gets_a_fingerprint(project):
    (project.rules / "refuses.md").write_text(REFUSES)
    project.run()
    assert (
        {row["gate"] for row in project.read("candidates")}
        == {"execution"}
        == {gate for gate, _ in project.blocks().values()}
    )
    assert [row["fingerprint"] for row in project.read("candidates")] == [None] * 3
    (project.rules / "refuses.md").unlink()
    project.run(*JUDGED, "accepted", "instances", "complexity", "funnel", "drift", "experience", "survivors")
    duplicate = ("static", "families-near-duplicate")
    assert project.blocks() == {TWIN.family_id: duplicate, DOUBLE.family_id: duplicate}
    [accepted] = project.read("accepted")
    assert (accepted["family_id"], Fingerprint.from_json(accepted["fingerprint"]).family_id) == (
        NEW.family_id,
        NEW.family_id,
    )
    assert set(json.loads(accepted["evidence"])) == {gate.name for gate in GATES}
    entering = project.lake.read("families", "incoming_families", "0002")
    kept = entering.filter(pl.col("state") == "accepted").select("family_id", "fingerprint").rows()
    assert {family_id for family_id, _ in kept} == {CLINIC.family_id, NEW.family_id} and all(
        fingerprint for _, fingerprint in kept
    )
    assert {row["artifact_id"] for row in project.read("quality__agent_calls")} >= {NEW.family_id}


def test_what_only_the_last_gate_had_blocked_is_compared_without_a_run(project, monkeypatch):
    rule = project.rules / "sentences-read.md"
    rule.write_text(rule.read_text().replace('"largest_share": 1.0', '"largest_share": 0.0'))
    project.run()
    last = ("sentences", "families-sentences-read")
    assert project.blocks() == {
        TWIN.family_id: ("static", "families-near-duplicate"),
        NEW.family_id: last,
        DOUBLE.family_id: last,
    }
    rule.write_text(rule.read_text().replace('"largest_share": 0.0', '"largest_share": 1.0'))
    monkeypatch.setattr("evolake.jail.open_pool", lambda **_: pytest.fail("all evidence is stored"))
    project.run("sentences", "accepted")
    assert project.blocks() == dict.fromkeys(
        (TWIN.family_id, DOUBLE.family_id), ("static", "families-near-duplicate")
    )
    assert [row["family_id"] for row in project.read("accepted")] == [NEW.family_id]
    assert {row["family_id"] for row in project.read("further_sentences")} == {
        NEW.family_id,
        DOUBLE.family_id,
    }
