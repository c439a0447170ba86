"""The workspace of a cycle: repositories unpacked, solvers built, suites as files, each made once and found
again; and the gates one at a time, as the assets ask for them: evidence that is stored is judged as it is,
what is missing is collected now. So a rule that has changed is judged again on all old cycles without a build
or a run.

Everything in it comes from blobs and can be thrown away at any time: `work` is a cache. A build is found
again by the hash of its sources, so asking for the program of a variant that was judged costs nothing.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from evolake import gates
from evolake.compute.remote_jail import Remote
from evolake.errors import LakeError, MachineryError
from evolake.file_names import file_name
from evolake.gate_spec import GateSpec
from evolake.gates import GateResult, Ruleset, collected
from evolake.gates.boundary import raised_in
from evolake.lake.blobs import BlobStore
from evolake.lake.secret import secret_of
from evolake.seeds import CycleSeeds, child_seed
from evolake.solvers.evolution.planning import LINE, Base, KnownVariant
from evolake.solvers.evolution.population import edits_of_row
from evolake.solvers.execute import Program
from evolake.solvers.gates.collecting import Subject
from evolake.solvers.gates.evidence import load_evidence, store_evidence
from evolake.solvers.gates.judging import VariantResults, judge_variant
from evolake.solvers.gates.runs import GateContext, stability_suite
from evolake.solvers.measurement.benchmark import StageLimits, stage_limits
from evolake.solvers.proof.checking import key_for, seed_of
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.variant import read_card, source_sha
from evolake.solvers.rules.programs import loaded_sha
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Suite
from evolake.solvers.suites.folders import named_suite, unseen_suite
from evolake.solvers.suites.fresh import FreshKey, carried_suite, correctness_suite

SIZES = {"smoke": "smoke_instances", "train": "train_instances", "holdout": "holdout_instances"}
SUITES = {"train": "train_suite", "holdout": "holdout_suite"}
"""Purpose of a suite -> setting that says which one it is; smoke is always the suite of that name."""


@dataclass(frozen=True)
class Workspace:
    """Where variants are unpacked, built and run.

    seeds: the tracked seeds (adapters, suites). seed_rows: base -> row of VARIANTS of its seed. trees: name
    of a seed -> its unpacked upstream tree. live: rows of VARIANTS of those that live: a variant with the
    program of one of them changes nothing. executor: for the builds and the runs of gates; None: threads of
    this process. slots: how many variants it is of use to judge at one time.
    """

    blobs: BlobStore
    work: Path
    seeds: Path
    settings: SolversSettings
    root_seed: int
    seed_rows: Mapping[str, Mapping[str, Any]]
    trees: Callable[[str], Path]
    executor: Executor | None = None
    slots: int = 1
    live: tuple[Mapping[str, Any], ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def scratch(self) -> Path | None:
        """Where folders for a while are made: where the workers that run the gates see them, None for
        anywhere."""
        return self.cache if self.executor else None

    @contextmanager
    def at_once(self, workers: int) -> Generator[Workspace]:
        """Yield this workspace for variants that are judged side by side: where this process does it, their
        builds and runs share `workers` threads."""
        if self.executor is not None:
            yield replace(self, slots=self.executor.slots if isinstance(self.executor, Remote) else workers)
            return
        with ThreadPoolExecutor(workers, thread_name_prefix="evolake-gates") as threads:
            yield replace(self, executor=threads, slots=workers)

    @property
    def cache(self) -> Path:
        """Executables, formulas and their copies."""
        return _made(self.work / "cache")

    @property
    def proofs(self) -> Path:
        """Verdicts on proofs by formula and proof."""
        return _made(self.work / "proofs")

    def folder(self, archive_sha: str) -> Path:
        """Return the repository whose archive that is, unpacked. Not to be changed."""
        target = self.work / "trees" / archive_sha[:24]
        with self._lock:
            if not target.exists():
                _made(target.parent)
                self.blobs.get_tree(archive_sha, target)
        return target

    def adapter(self, name: str) -> Adapter:
        """Return the adapter of that name."""
        return load_adapter(name, self.seeds / "solvers" / "adapters")

    def base(self, name: str) -> Base:
        """Return the seed that variants descend from, with its adapter.

        Raises:
            LakeError: no seed of that name is in the population.
        """
        if name not in self.seed_rows:
            raise LakeError(
                f"the seed {name!r} is not in the population",
                wanted=f"one of {', '.join(sorted(self.seed_rows)) or 'none'}",
            )
        folder = self.folder(str(self.seed_rows[name]["archive_sha"]))
        return Base(name, folder, self.adapter(read_card(folder)["adapter"]))

    def bases(self) -> dict[str, Base]:
        """Return all seeds, by name."""
        return {name: self.base(name) for name in sorted(self.seed_rows)}

    def known(self, row: Mapping[str, Any]) -> KnownVariant:
        """Return a row of VARIANTS as a parent."""
        return KnownVariant(
            row["variant_id"],
            row["base"],
            row["title"],
            row["operator"],
            self.folder(row["archive_sha"]),
            edits_of_row(row),
            row["changed"] or "",
        )

    def program(self, row: Mapping[str, Any]) -> Program:
        """Return the built solver of a variant that passed the build gate.

        Raises:
            MachineryError: its sources cannot be built here, though they were built when it was judged.
        """
        return self.built(self.folder(row["archive_sha"]), row["base"])

    def built(self, folder: Path, base: str) -> Program:
        """Return the built solver of a repository that passed the build gate. Raises MachineryError as
        `program`."""
        adapter = self.base(base).adapter
        result = build_variant(folder, adapter, self.blobs)
        if not result.ok:
            what = f"the variant {source_sha(folder)[:12]} was accepted and cannot be built here"
            raise MachineryError(what, got=result.reason, do="see evolake doctor")
        return open_program(result, adapter, self.blobs, self.cache)

    def suite(self, name: str) -> Suite:
        """Return the suite for smoke, train or holdout as files, cut to the profile's number of formulas."""
        chosen = getattr(self.settings, SUITES[name]) if name in SUITES else name
        return self._suite(chosen, getattr(self.settings, SIZES[name]))

    def duel_suite(self, contest: CycleSeeds) -> Suite:
        """Return the formulas of a cycle's duels, which no role has seen: as many as `train` has or, where
        the profile has it so, more. contest: see `evolake.lake.secret`."""
        return self._unseen(contest, contest.cycle)

    def race_suite(self, contest: CycleSeeds) -> Suite:
        """Return the formulas of a cycle's races: as those of its duels, and others."""
        return self._unseen(contest, f"{contest.cycle}-race")

    def trial_suite(self, word: str) -> Suite:
        """Return the formulas of one draw for coders' trials, of the training suite's recipes, under their
        own key: none is a contest's."""
        return unseen_suite(
            self.settings.train_suite,
            self.blobs,
            self.cache,
            FreshKey(secret_of(self.blobs), self.root_seed, word),
            seeds=self.seeds,
            count=self.settings.train_instances,
            trees=self.trees,
        )

    def _unseen(self, contest: CycleSeeds, word: str) -> Suite:
        ranked, more = self.settings.train_instances, self.settings.duel_instances
        return unseen_suite(
            self.settings.duel_suite or self.settings.train_suite,
            self.blobs,
            self.cache,
            FreshKey(contest.root.to_bytes(8), self.root_seed, word),
            seeds=self.seeds,
            count=max(ranked, more) if ranked else 0,
            trees=self.trees,
        )

    def _suite(self, name: str, count: int) -> Suite:
        return named_suite(
            name, self.blobs, self.cache, seeds=self.seeds, trees=self.trees, count=count, locked=True
        )

    def key(self, cycle: str, purpose: str) -> bytes:
        """Return what a draw of this cycle is made by; see `checking`. It follows from the lake's secret."""
        return key_for(secret_of(self.blobs), LINE, cycle, purpose)

    @property
    def limits(self) -> StageLimits:
        """Limits of each stage."""
        return stage_limits(self.settings)

    def context(self, base: str, cycle: str) -> GateContext:
        """Return what the gates need to judge a variant of `base`; the seed's own evidence of the stability
        gate is what memory is compared with. The formulas of the correctness gate are the cycle's own, and
        those of `correctness_suite` where the settings name one."""
        drawn = correctness_suite(
            self.blobs,
            self.cache,
            seed_of(self.key(cycle, "correctness")),
            self.settings.correctness_instances,
        )
        if self.settings.correctness_suite:
            drawn = replace(
                drawn,
                instances=(*drawn.instances, *self._suite(self.settings.correctness_suite, 0).instances),
            )
        result = self._base_stability(base)
        return replace(
            self._gate_context,
            correctness=drawn,
            draw=self.key(cycle, "smoke"),
            base_stability=lambda: result.get("runs", []),
            base_carried=lambda: result.get("carried", []),
        )

    @cached_property
    def _gate_context(self) -> GateContext:
        stability, limits = (
            stability_suite(self.blobs, self.cache, child_seed(self.root_seed, LINE, "*", "stability")),
            self.limits,
        )
        return GateContext(
            self.suite("smoke"),
            Suite("", ()),
            stability,
            self.blobs,
            self.cache,
            smoke_limits=limits.smoke,
            correctness_limits=limits.run,
            stability_limits=limits.stability,
            proof_limits=limits.proof,
            verdicts=self.proofs,
            executor=self.executor,
            programs=lambda: self._programs,
            filling_build=self.settings.filling_build,
            carried=carried_suite(
                self.suite("train"),
                self.blobs,
                self.cache,
                secret=secret_of(self.blobs),
                root_seed=self.root_seed,
                count=self.settings.carry_instances,
            ),
        )

    @cached_property
    def _programs(self) -> dict[str, str]:
        """Loaded contents of the program of each variant that lives -> its id, the first if there are more. A
        program whose blob was removed is left out: it is built again for its next run, and no variant is held
        to it until then."""
        result: dict[str, str] = {}
        for row in self.live:
            sha = evidence_of(row).get("build")
            program = (
                load_evidence(sha, self.blobs).get("build", {}).get("program")
                if sha and self.blobs.has(sha)
                else None
            )
            if program and self.blobs.has(program) and (code := loaded_sha(self.blobs.get(program))):
                result.setdefault(code, row["variant_id"])
        return result

    def _base_stability(self, base: str) -> dict[str, Any]:
        row = self.seed_rows.get(base)
        sha = evidence_of(row).get("stability") if row else None
        return load_evidence(sha, self.blobs) if sha else {}

    def journal(self, name: str, *content: str) -> Path:
        """Return where finished runs of a stage are kept until it is published, so that a killed run
        continues. Named by what it depends on."""
        word = hashlib.sha256("\n".join(content).encode()).hexdigest()[:16]
        return _made(self.work / "journals") / file_name(f"{name}-{word}", ".jsonl")


def evidence_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return gate -> sha of what its rules judged when the variant was made."""
    return json.loads(row["evidence"]) if row["evidence"] else {}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


Edits = Sequence[Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class VariantGateResult(GateResult):
    """One gate on one row of VARIANTS. runs: rows of RUNS that were made for it just now; None where the
    evidence is that of an earlier judgement."""

    row: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, Any]] | None = None

    def gated(self) -> dict[str, Any]:
        """Return a row of GATED."""
        last = self.verdicts[-1]
        return {
            "variant_id": self.row["variant_id"],
            "cycle": last.cycle,
            "gate": self.gate,
            "passed": self.passed,
            "rule_id": None if self.passed else last.rule_id,
            "reason": last.reason or None,
            "evidence_sha": last.evidence_sha,
        }


def judge_folder(
    workspace: Workspace, ruleset: Ruleset, *, cycle: str, run_id: str
) -> Callable[[Path], VariantResults]:
    """Return all gates on a folder, for a coder that is to be shown what objects. Safe under threads."""
    laying_out = threading.Lock()

    def judge(folder: Path) -> VariantResults:
        base = workspace.base(read_card(folder)["base"])
        with laying_out:
            context = workspace.context(base.name, cycle)
        return judge_variant(
            folder,
            adapter=base.adapter,
            base=base.folder,
            ruleset=ruleset,
            context=context,
            cycle=cycle,
            run_id=run_id,
        )

    return judge


def replay_gate(
    workspace: Workspace,
    gate: GateSpec,
    row: Mapping[str, Any],
    ruleset: Ruleset,
    *,
    cycle: str,
    run_id: str,
    parent_edits: Edits = (),
) -> VariantGateResult:
    """Return verdicts of one gate on one row of VARIANTS, and the evidence that they rest on. Evidence that
    is not there, or of a version that looked at less, is made; that of the gate `compliance` always, for it
    is cheap, and the parents' edits are known only here.

    Raises:
        MachineryError: evidence had to be collected and the jail, a checker or the compiler failed.
    """
    sha = evidence_of(row).get(gate.name)
    evidence = load_evidence(sha, workspace.blobs) if sha is not None and gate.name != "compliance" else {}
    runs: list[dict[str, Any]] | None = None
    reused = bool(evidence) and gates.is_usable(gate, evidence)
    if not reused:
        base = workspace.base(row["base"])
        subject = Subject(
            row["variant_id"],
            cycle,
            lambda: workspace.folder(row["archive_sha"]),
            base.folder,
            base.name,
            base.adapter,
            parent_edits,
            lambda: workspace.context(base.name, cycle),
            lambda: workspace.program(row),
        )
        evidence = collected(gate.collector(), subject)
        sha, runs = (
            store_evidence(evidence, workspace.blobs),
            [] if raised_in(evidence) else subject.runs.get(gate.name, []),
        )
    said = gates.replay_gate(
        gate, evidence, ruleset, artifact_id=row["variant_id"], cycle=cycle, run_id=run_id, evidence_sha=sha
    )
    return VariantGateResult(gate.name, said.verdicts, evidence, sha, reused, row, runs)


def parents_edits(
    row: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]
) -> list[list[dict[str, Any]]]:
    """Return the edits of each parent of `row`; none for a parent that was written as a diff. rows: id -> row
    of VARIANTS."""
    texts = [rows[parent]["edits"] for parent in row["parents"] or () if parent in rows]
    return [json.loads(text) for text in texts if text]
