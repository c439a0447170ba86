"""The gates of a design, in order: `gate_specs`. Rules are files; the checkers that they name are registered
here.

Evidence is collected once: one trace in the jail serves the first two gates. A dead jail raises; it never
becomes a verdict. Whatever else collecting the evidence of a design raises is evidence too, and blocks it
(evolake.designs.model.boundary): this is where one design is judged.

What the gates saw of a design that the lake holds is made from its source, its trace, and the reason of what
blocked it; the few steps of the dynamics gate are taken again. What a file without a trace might have been
after the gate that stopped it is not known. What an objective's trial showed is a blob that its verdicts
name; of older trials nothing is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake import gates
from evolake import settings as settings_module
from evolake.designs.engines.isolated import Run, fits_apart, run_apart
from evolake.designs.evolution.gate_specs import GATES, OBJECTIVE
from evolake.designs.evolution.population import design_id_of, text_id_of
from evolake.designs.evolution.schedule import sizes
from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.genome.open_graph import Unread, traced_genome
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import Blocked, HyperValue, TracedDesign
from evolake.designs.settings import DesignsSettings
from evolake.designs.tracing.trace import trace
from evolake.designs.work.substeps import substeps
from evolake.errors import InputError
from evolake.gate_spec import Evidence
from evolake.gates import Finding, GateResults, Ruleset, checker, read_reason
from evolake.gates.boundary import RAISED
from evolake.gates.stored import Find, StoredEvidence
from evolake.lake import Lake
from evolake.seeds import child_seed
from evolake.settings import Settings

CONTRACT_GATES = ("load", "contract")
TWIN = "duplicate of "
"""How the reason of a design begins that another one computes too."""
RACER_GATES = tuple(gate for gate in GATES if gate.name != "dynamics")
PROBE_STEPS = 20
PROBE_BATCH = 4
PROBE_S = 20.0
"""Processor seconds that the probe may take."""


@dataclass(frozen=True)
class DesignResults(GateResults):
    """A design after its gates. `traced` is there where it could be traced, also when a later gate blocked
    it."""

    traced: TracedDesign | None = None

    @property
    def design_id(self) -> str:
        """Return the design's id."""
        return self.artifact_id

    @property
    def reason(self) -> str:
        """Why it was blocked: gate and sentence. Empty for an accepted design."""
        blocked = self.blocked_by
        return f"{blocked.gate}: {blocked.reason}" if blocked else ""


@dataclass(frozen=True)
class Attempt:
    """A design as its gates see it. outcome: its trace, why there is none, or evidence of what judging it
    raised. twin: who computes it too."""

    source: str
    outcome: TracedDesign | Blocked | dict[str, Any]
    twin: str | None
    settings: DesignsSettings
    root_seed: int

    @property
    def traced(self) -> TracedDesign | None:
        """Return the traced design, or None if it could not be traced."""
        return self.outcome if isinstance(self.outcome, TracedDesign) else None

    @property
    def nodes(self) -> int:
        """Of its gradient's graph; 0 without a trace."""
        return len(self.traced.graph["gradient"]["nodes"]) if self.traced else 0


def collect_contract(item: Attempt) -> dict[str, Any]:
    """Return why it is no design, or its trace; and how long its file is."""
    return {"blocked": item.outcome, "bytes": len(item.source.encode(errors="backslashreplace"))}


def collect_trace(item: Attempt) -> dict[str, Any]:
    """Return why it has no graph, or its trace; and how large the graph is."""
    if isinstance(item.outcome, dict):
        return item.outcome
    return {
        "blocked": item.outcome,
        "nodes": item.nodes,
        "substeps": substeps(item.traced.gradient()) if item.traced else 1,
    }


def collect_duplicate(item: Attempt) -> dict[str, Any]:
    """Return the design that computes the same."""
    return {"twin": item.twin}


def collect_dynamics(item: Attempt) -> dict[str, Any]:
    """Return what a few steps came to."""
    return alone(lambda: _probed(item.traced, item.settings, item.root_seed), _raising)


@dataclass(frozen=True)
class DesignGates:
    """The gates of a design with everything bound but the design and those that it must differ from: what
    `proposals` calls a judge."""

    pool: Any
    ruleset: Ruleset
    settings: DesignsSettings
    cycle: str
    run_id: str
    root_seed: int = 0

    def __call__(
        self, source: str, hyper: Mapping[str, HyperValue], known: Mapping[str, str]
    ) -> DesignResults:
        """Take one design through its gates.

        Args:
            source: the file's text. hyper: values that replace its defaults.
            known: graph_sha -> design id of every design there is, for the duplicate gate.

        Raises:
            MachineryError: the jail failed. InputError: a rule file cannot be used.
        """
        result = alone(lambda: _traced(source, hyper, self.pool, self.settings), _raising)
        return self._judged(source, hyper, known, result, GATES)

    def of_genome(
        self, genome: OpenGenome, source: str, hyper: Mapping[str, HyperValue], known: Mapping[str, str]
    ) -> DesignResults:
        """Take a design that operators wrote through the gates of a racer: its graph is read off its genome.

        Nothing of it runs in the jail. The shapes are checked where it races, before each run, and its first
        steps are those of the race. It is no design of the archive before it has passed all gates.

        Args:
            source: what `compose` writes of the genome. hyper, known: as for all gates.

        Raises:
            InputError: a rule file cannot be used.
        """
        result = alone(lambda: _of_genome(genome), _raising)
        if isinstance(result, Unread):
            return self(source, hyper, known)
        return self._judged(source, hyper, known, result, RACER_GATES)

    def _judged(
        self, source: str, hyper: Mapping[str, HyperValue], known: Mapping[str, str], result: Any, by: Any
    ) -> DesignResults:
        traced = result if isinstance(result, TracedDesign) else None
        twin = known.get(traced.graph_sha) if traced else None
        design_id = design_id_of(traced) if traced is not None and twin is None else text_id_of(source, hyper)
        done = gates.run_gates(
            Attempt(source, result, twin, self.settings, self.root_seed),
            by,
            self.ruleset,
            artifact_id=design_id,
            cycle=self.cycle,
            run_id=self.run_id,
        )
        return DesignResults(done.artifact_id, done.results, done.accepted, traced)


def _of_genome(genome: OpenGenome) -> TracedDesign | Blocked | Unread:
    """Return the graph of a genome, or what of its file has no rule."""
    try:
        return traced_genome(genome, fits=lambda graph, outputs, sizes, batched: None)
    except Unread as unread:
        return unread


def _traced(
    source: str, hyper: Mapping[str, HyperValue], pool: Any, settings: DesignsSettings
) -> TracedDesign | Blocked:
    """Return the trace, if it fits itself at every size that the schedule may reach and its numbers can be
    shown to everybody else.

    A value that a role chose outside its range is the design's fault, not the user's.
    """
    try:
        result = trace(source, pool=pool, hyper=dict(hyper), fits=fits_apart)
    except InputError as error:
        return Blocked(error.what, "contract")
    if isinstance(result, Blocked):
        return result
    design_id_of(result)
    return size_problem(result, settings) or result


def size_problem(traced: TracedDesign, settings: DesignsSettings) -> Blocked | None:
    """Return why a design cannot be run at some size of the schedule, or None: a misfit, or more numbers than
    allowed. Nothing is allocated."""
    variables = {variable.name: variable for variable in traced.variables}
    gradient, initial = traced.gradient(), traced.initial()
    graphs = [
        (gradient, variables, False),
        *((graph, {name: variables[name]}, True) for name, graph in initial.items()),
    ]
    every = [(settings.batch, n, int(settings.ratio * n)) for n in sizes(settings, "high")]
    found = (fits_apart(graph, outputs, every, batched) for graph, outputs, batched in graphs)
    return next((problem for problem in found if problem is not None), None)


def _probed(traced: TracedDesign | None, settings: DesignsSettings, root_seed: int) -> dict[str, Any]:
    """Return a few steps on a few small instances, in a process that may die of them: the share that left the
    finite numbers, or how the design broke.
    """
    assert traced is not None, "the dynamics gate comes after the trace gate"
    seed = child_seed(root_seed, "designs", "*", "probe")
    done = run_apart(
        Run(
            json.dumps(traced.to_json()),
            settings.n_start,
            PROBE_BATCH,
            seed,
            PROBE_STEPS,
            instance_seed=seed,
            ratio=settings.ratio,
            until_median=False,
            guard_s=PROBE_S,
            engine="torch",
        )
    )
    if read_reason(done.failure):
        return _raising(done.failure)
    return {
        "diverged_fraction": 1.0 if done.failure else done.diverged / PROBE_BATCH,
        "failure": done.failure,
    }


def _raising(reason: str | None) -> dict[str, Any]:
    """Evidence that could not be collected; see `evolake.gates.boundary`."""
    return {RAISED: reason}


@checker("designs.contract")
def contract(evidence: Mapping[str, Any], *, max_source_bytes: int) -> Finding | None:
    """Check that the file is a design, and short enough to be read."""
    if evidence["bytes"] > max_source_bytes:
        return Finding(f"the file has {evidence['bytes']} bytes; at most {max_source_bytes} are allowed")
    result = evidence["blocked"]
    return Finding(result.reason) if isinstance(result, Blocked) and result.gate in CONTRACT_GATES else None


@checker("designs.trace")
def traces(evidence: Mapping[str, Any], *, max_nodes: int) -> Finding | None:
    """Check that the dynamics came out of the jail as a checked graph."""
    result = evidence["blocked"]
    if isinstance(result, Blocked) and result.gate not in CONTRACT_GATES:
        return Finding(f"{result.gate}: {result.reason}")
    return (
        Finding(f"the graph has {evidence['nodes']} nodes; at most {max_nodes} are allowed")
        if evidence["nodes"] > max_nodes
        else None
    )


@checker("designs.repeated_flow")
def repeated_flow(evidence: Mapping[str, Any], *, max_substeps: int) -> Finding | None:
    """Check that a step goes at most `max_substeps` times from the variables to the clauses and back."""
    taken = evidence.get("substeps", 1)
    if taken <= max_substeps:
        return None
    return Finding(
        f"one step goes {taken} times from the variables to the clauses and back, at most {max_substeps} are "
        "allowed: a step that holds others is no better design, "
        "since work is counted and not calls"
    )


@checker("designs.duplicate")
def duplicate(evidence: Mapping[str, Any]) -> Finding | None:
    """No other design computes the same."""
    return Finding(f"{TWIN}{evidence['twin']}") if evidence["twin"] else None


@checker("designs.dynamics")
def dynamics(evidence: Mapping[str, Any], *, max_diverged_fraction: float) -> Finding | None:
    """Check that the first steps can be taken and stay finite."""
    share, failure = evidence["diverged_fraction"], evidence.get("failure")
    if failure and share > max_diverged_fraction:
        return Finding(f"the first steps broke: {failure}")
    return (
        Finding(f"{share:.0%} of the probe instances left the finite numbers")
        if share > max_diverged_fraction
        else None
    )


LINE = "designs"
TABLES = (
    "raced",
    "seeds",
    "immigrant_designs",
    "merged_designs",
    "imported_designs",
    "candidates",
    "tuned_designs",
)
COLLECT = {
    "contract": collect_contract,
    "trace": collect_trace,
    "duplicate": collect_duplicate,
    "dynamics": collect_dynamics,
}


def find(lake: Lake, cycle: str | None) -> Find:
    """Of the designs and objectives of one cycle."""
    settings = settings_module.load()
    rows = {
        row["design_id"]: row for table in TABLES for row in _read(lake, table, cycle) if row["source_sha"]
    }

    def of_gate(artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
        if gate == OBJECTIVE.name:
            return json.loads(lake.blobs.get(shas[gate])) if gate in shas else None
        row = rows.get(artifact)
        return (
            COLLECT[gate](_attempt(row, lake, settings)) if row is not None and _is_known(row, gate) else None
        )

    return of_gate


STORED = StoredEvidence(
    find=find,
    seconds=" UNION ALL ".join(
        f"SELECT '{asset}' AS asset, cycle, design_id AS artifact_id, cpu_s FROM designs.{table}"
        for asset, table in (
            ("experiments", "experiments"),
            ("promoted_experiments", "promoted_experiments"),
            ("survivors", "champion_trials"),
        )
    ),
    caution=(
        "a design that is blocked goes back to its designer when `candidates` is made again, so that "
        "another may come in its place"
    ),
)


def _attempt(row: Mapping[str, Any], lake: Lake, settings: Settings) -> Attempt:
    """Return the design as its gates saw it. row: of DESIGNS."""
    gate, _, reason = (row["reason"] or "").partition(": ")
    source = lake.blobs.get(row["source_sha"]).decode(errors="replace")
    twin = reason.removeprefix(TWIN) if gate == "duplicate" else None
    return Attempt(source, _found(row, gate, reason, lake), twin, settings.of(DesignsSettings), settings.seed)


def _found(
    row: Mapping[str, Any], gate: str, reason: str, lake: Lake
) -> TracedDesign | Blocked | dict[str, Any]:
    if row["traced_sha"]:
        return TracedDesign.from_json(json.loads(lake.blobs.get(row["traced_sha"])))
    if read_reason(reason):
        return {RAISED: reason}
    place, _, why = reason.partition(": ") if gate == "trace" else (gate, "", reason)
    return Blocked(why, place)


def _is_known(row: Mapping[str, Any], gate: str) -> bool:
    """Return whether what is stored is what this gate saw: who else computes the same is known of those that
    came so far."""
    stopped = (row["reason"] or "").partition(": ")[0]
    return gate in ("contract", "trace") or (bool(row["traced_sha"]) and stopped not in ("contract", "trace"))


def _read(lake: Lake, table: str, cycle: str | None) -> list[dict[str, Any]]:
    return lake.read(LINE, table, cycle).to_dicts() if lake.record(LINE, table, cycle) is not None else []
