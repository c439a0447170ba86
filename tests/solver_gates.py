"""A lake with seeds laid out and a small context of formulas, for tests that take real variants through the
gates."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from solver_mutants import PINNED_VARIABLES
from solver_seed_builds import bring_seed, seed_folder

from evolake.errors import MachineryError
from evolake.gates import Ruleset, load_rules
from evolake.lake.blobs import BlobStore
from evolake.reading.formula import Formula, write_dimacs
from evolake.solvers.gates.judging import VariantResults, judge_variant
from evolake.solvers.gates.runs import GateContext, copies_of, stability_suite
from evolake.solvers.proof.checking import SMOKE_SHARE, is_drawn
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.suites import Instance, Suite, with_files
from evolake.solvers.suites.generators import CASES, corner_case, generate

SEEDS = Path(__file__).parents[1] / "data_lake" / "seeds"
RULES = load_rules(SEEDS / "rules", "solvers")
NOT_READ_BY_MINISAT = ("header-spaced",)
QUICK = (
    "nothing",
    "empty-clause-alone",
    "units-contradict",
    "literal-twice-unsat",
    "variable-unused",
    "all-signs-3",
    "all-signs-7",
    "parity-chain-unsat",
)
"""Corner cases of the quick context, beside the planted formulas: those that a planted fault shows on, and a
few others."""
JUDGED = ("minisat22", "glucose421")
"""Seeds whose program several files of tests want."""


def unlinted(rules: Ruleset = RULES) -> Ruleset:
    """The rules without those that read added code or the built program: what stands behind them."""
    kept = (
        "solvers.layout",
        "solvers.documents",
        "solvers.frozen_files",
        "solvers.only_sources",
        "solvers.build",
    )
    return replace(
        rules,
        rules=tuple(
            rule for rule in rules.rules if rule.gate not in ("compliance", "build") or rule.check in kept
        ),
    )


@dataclass(frozen=True)
class GatesProject:
    """Everything that one session of tests shares: builds are remembered in its blobs."""

    root: Path
    context: GateContext

    def adapter(self, base: str) -> Adapter:
        return load_adapter(base, SEEDS / "solvers" / "adapters")

    def seed(self, base: str) -> Path:
        """Return the seed's repository, which all tests share. Absent network: skipped by name; under
        EVOLAKE_REQUIRE_ALL=1 a failure."""
        try:
            if base in JUDGED:
                _brought(base, self.root / "lake")
            return seed_folder(base)
        except MachineryError as error:
            if os.environ.get("EVOLAKE_REQUIRE_ALL") == "1":
                raise
            pytest.skip(f"the seed {base} cannot be fetched: {error.what}")

    def copy(self, base: str, name: str) -> Path:
        """A copy of the seed's repository that a test may change."""
        target = self.root / "variants" / name
        shutil.copytree(self.seed(base), target)
        return target

    @property
    def quick(self) -> GatesProject:
        """The same project with a third of the small formulas, for those of many variants whose faults show
        on these."""
        smoke = self.context.smoke
        chosen = tuple(item for item in smoke.instances if item.name in QUICK or item.name not in CASES)
        return replace(self, context=replace(self.context, smoke=replace(smoke, instances=chosen)))

    def judge(self, folder: Path, base: str, rules: Ruleset = RULES, **options: Any) -> VariantResults:
        return judge_variant(
            folder,
            adapter=self.adapter(base),
            base=self.seed(base),
            ruleset=rules,
            context=self.context,
            cycle="0001",
            run_id="test",
            **options,
        )


@cache
def _brought(base: str, lake: Path) -> None:
    bring_seed(base, lake)


def open_project(root: Path) -> GatesProject:
    """A project below `root`, with formulas whose statuses are known by how they are made (and, for the
    random UNSAT ones, by the seeds' proofs)."""
    blobs, cache = BlobStore(root / "lake"), root / "cache"
    corners = {
        name: (status, corner_case(name))
        for name, (status, _) in CASES.items()
        if name not in NOT_READ_BY_MINISAT
    }
    planted = {
        f"planted-{seed}": ("SAT", generate("planted", {"n": 60, "m": 250, "k": 3, "seed": seed}))
        for seed in range(6)
    }
    known = {
        "pinned": ("UNSAT", generate("rksat", {"n": PINNED_VARIABLES, "m": 260, "k": 3, "seed": 1})),
        "random-unsat": ("UNSAT", generate("rksat", {"n": 90, "m": 540, "k": 3, "seed": 3})),
        "pigeons": ("UNSAT", generate("cnfgen", {"args": "php 7 6"})),
        "planted-150": ("SAT", generate("planted", {"n": 150, "m": 630, "k": 3, "seed": 3})),
    }
    stability = stability_suite(blobs, cache)
    smoke = _suite("smoke", corners | planted, blobs, cache)
    draw = drawing_none_of(smoke, cache)
    return GatesProject(
        root,
        GateContext(
            smoke,
            _suite("train", known, blobs, cache),
            stability,
            blobs,
            cache,
            verdicts=root / "proofs",
            draw=draw,
        ),
    )


def drawing_none_of(smoke: Suite, cache: Path) -> bytes:
    """The first key by which no proof of the smoke gate is drawn: by one of chance that gate blocks, now and
    then, what another is to block."""
    unsatisfiable = [instance for instance in smoke.instances if instance.status == "UNSAT"]
    copies = [
        f"{copy.sha} {copy.shuffle}"
        for instance in unsatisfiable
        for copy in (instance, *copies_of(instance, cache))
    ]
    keys = (number.to_bytes(32) for number in count())
    return next(key for key in keys if not any(is_drawn(key, copy, 0, SMOKE_SHARE) for copy in copies))


def _suite(
    name: str, formulas: dict[str, tuple[Any, Formula | bytes]], blobs: BlobStore, cache: Path
) -> Suite:
    instances = []
    for item, (status, formula) in formulas.items():
        data = formula if isinstance(formula, bytes) else write_dimacs(formula)
        instances.append(Instance(item, name, status, blobs.put(data), base=item))
    return with_files(Suite(name, tuple(instances)), blobs, cache)
