"""Take a repository where it is through all gates: what `evolake solvers verify` does.

A repository laid out as a variant is judged against its seed. With an adapter's name, an upstream tree of
that family is laid out first. Rules are the tracked ones; builds and formulas are kept in the lake's blobs,
so that asking again builds nothing again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.gates import Ruleset, load_rules
from evolake.lake import BlobStore, Lake
from evolake.lake.secret import secret_of
from evolake.scratch import Scratch
from evolake.settings import Settings, load
from evolake.solvers.gates.evidence import seed_carried, seed_stability
from evolake.solvers.gates.judging import VariantResults, judge_variant
from evolake.solvers.gates.runs import GateContext, stability_suite
from evolake.solvers.gates.specs import RUN_GATES
from evolake.solvers.measurement.benchmark import stage_limits
from evolake.solvers.proof.checking import new_key, seed_of
from evolake.solvers.repository.seeding import lay_out_seed, seed_named, seed_trees
from evolake.solvers.repository.seeds_file import load_seeds
from evolake.solvers.repository.variant import as_variant, repository_in
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Suite
from evolake.solvers.suites.folders import named_suite
from evolake.solvers.suites.fresh import carried_suite, correctness_suite

CYCLE = "verify"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Verified:
    """What the gates said of the repository at `folder`. seed: whose sources it was compared with; None if no
    seed of its family is known."""

    folder: Path
    suite: str
    judged: VariantResults
    ruleset_hash: str
    seed: str | None = None

    @property
    def verdict(self) -> str:
        """Return "accepted" or "blocked"."""
        return "accepted" if self.judged.accepted else "blocked"

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints. `gate` is null for an accepted repository; `runs` counts those of each
        gate."""
        judged, blocked = self.judged, self.judged.blocked_by
        return {
            "verdict": self.verdict,
            "gate": blocked.gate if blocked else None,
            "reasons": [blocked.reason] if blocked else [],
            "rule": blocked.rule_id if blocked else None,
            "variant_id": judged.variant_id,
            "suite": self.suite,
            "ruleset_hash": self.ruleset_hash,
            "seed": self.seed,
            "output": judged.output,
            "runs": {gate: len(judged.runs.get(gate, ())) for gate in RUN_GATES},
        }


def verify_folder(
    folder: Path,
    *,
    suite: str = "smoke",
    adapter_name: str | None = None,
    instances: int = 0,
    profile: str | None = None,
    on_progress: Progress | None = None,
) -> Verified:
    """Return all gates on one repository.

    Args:
        suite: whose formulas the correctness gate uses next to those that it draws; the smoke gate always
            uses `smoke`. instances: only the first so many of it, 0 for all.
        adapter_name: how to build and run; needed if there is no variant.toml.

    Raises:
        InputError: no such folder, adapter or seed, or an upstream tree that the adapter does not fit.
            MachineryError: the machinery failed.
    """
    settings = load(profile)
    return judge_folder(
        folder,
        settings=settings,
        ruleset=load_rules(settings.seeds / "rules", "solvers"),
        suite=suite,
        adapter_name=adapter_name,
        instances=instances,
        on_progress=on_progress,
    )


def judge_folder(
    folder: Path,
    *,
    settings: Settings,
    ruleset: Ruleset,
    suite: str = "smoke",
    adapter_name: str | None = None,
    instances: int = 0,
    on_progress: Progress | None = None,
) -> Verified:
    """Do as `verify_folder`, by these rules and settings; builds and formulas are kept in the lake of the
    settings."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", wanted="a solver's repository", do="check the path")
    folder = repository_in(folder)
    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    with Scratch("verify") as parent:
        variant, adapter, base_name = as_variant(
            folder, adapter_name, Path(parent), settings.seeds / "solvers" / "adapters"
        )
        seeds = settings.seeds / "solvers.toml"
        known = base_name in load_seeds(seeds)
        if not known and not (adapter_name or "").endswith(".toml"):
            seed_named(base_name, seeds)  # raises, naming those that are known
        base = (
            lay_out_seed(
                seed_named(base_name, seeds), blobs, cache, adapters=settings.seeds / "solvers" / "adapters"
            )
            if known
            else variant
        )
        context = _gate_context(suite, instances, settings, blobs, cache, on_progress)
        context = replace(context, base_carried=partial(seed_carried, base, adapter, context, cycle=CYCLE))
        if known:
            context = replace(
                context, base_stability=partial(seed_stability, base, adapter, context, cycle=CYCLE)
            )
        judged = judge_variant(
            variant, adapter=adapter, base=base, ruleset=ruleset, context=context, cycle=CYCLE, run_id=CYCLE
        )
    return Verified(folder, suite, judged, ruleset.hash, base_name if known else None)


def _gate_context(
    suite: str,
    instances: int,
    settings: Settings,
    blobs: BlobStore,
    cache: Path,
    on_progress: Progress | None,
) -> GateContext:
    sizes = settings.of(SolversSettings)
    trees = seed_trees(blobs, cache, seeds=settings.seeds / "solvers.toml")

    def files(name: str, count: int) -> Suite:
        return named_suite(name, blobs, cache / "formulas", seeds=settings.seeds, trees=trees, count=count)

    smoke, limits = files("smoke", sizes.smoke_instances), stage_limits(sizes)
    named = smoke.first(instances) if suite == "smoke" else files(suite, instances or sizes.train_instances)
    drawn = correctness_suite(blobs, cache / "formulas", seed_of(new_key()), sizes.correctness_instances)
    growing = stability_suite(blobs, cache / "formulas", settings.seed)
    return GateContext(
        smoke,
        replace(named, instances=(*drawn.instances, *named.instances)),
        growing,
        blobs,
        cache,
        smoke_limits=limits.smoke,
        correctness_limits=limits.run,
        stability_limits=limits.stability,
        proof_limits=limits.proof,
        progress=on_progress,
        filling_build=sizes.filling_build,
        verdicts=cache / "proofs",
        carried=carried_suite(
            files(sizes.train_suite, sizes.train_instances),
            blobs,
            cache / "formulas",
            secret=secret_of(blobs),
            root_seed=settings.seed,
            count=sizes.carry_instances,
        ),
    )
