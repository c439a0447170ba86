"""The gates of record, for any line: one asset per gate or few. Its verdicts rest on evidence that is stored,
and if there is none it is made, so that a changed rule is judged again without running anything and an asset
can always be materialized."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.line import Line
from assets.package import Upstream
from assets.shown import note
from assets.store import LineStore
from evolake.gate_spec import GateSpec, gates_before, gates_of_assets
from evolake.lake import VERDICTS, TableSchema
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.gates import GateResult, Ruleset

Row = Mapping[str, Any]
Replay = Callable[[Row, GateSpec], Any]
"""(a candidate's row, a gate) -> its GateResult, which has a `row`: the candidate as it is now."""
Replayed = Callable[[LineStore, pl.DataFrame], Sequence[Any]]
"""(store of a gate's asset, the candidates' table) -> results of the asset's gates: what a line binds
`GatesOfRecord.replay` to."""


@dataclass(frozen=True)
class Table:
    """What a gate's asset publishes. rows: (its store, results of its gates) -> rows of `schema`. kinds:
    shown on the asset."""

    schema: TableSchema
    rows: Callable[[LineStore, Sequence[Any]], Iterable[Row]]
    kinds: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GatesOfRecord:
    """The gates of one line. key: the column of a candidate's row that holds its id. shown: the one that
    holds its name."""

    line: Line
    gates: tuple[GateSpec, ...]
    key: str
    shown: str

    @property
    def assets(self) -> tuple[str, ...]:
        """The assets that do them, in order."""
        return tuple(gates_of_assets(self.gates))

    def verdicts(self, store: LineStore, before: str = "") -> list[dict[str, Any]]:
        """Return the verdicts of record of a cycle, by the assets before `before`; "" for all."""
        return [
            row
            for asset in gates_of_assets(gates_before(self.gates, before))
            for row in store.rows(asset, VERDICTS)
        ]

    def passed(self, store: LineStore, frame: pl.DataFrame, before: str = "") -> set[str]:
        """Return candidates of `frame` that each gate of the assets before `before` has passed; "" for all
        gates."""
        from evolake.gates import passed_gates

        ids = set(frame[self.key].to_list())
        wanted = [gate.name for gate in gates_before(self.gates, before)]
        return ids & passed_gates(self.verdicts(store, before), wanted) if wanted else ids

    def replay(self, store: LineStore, rows: Sequence[Row], ruleset: Ruleset, replay: Replay) -> list[Any]:
        """Return the gates of the store's asset on `rows`, candidates that passed those before. Publishes the
        verdicts, and says what was reused."""
        waiting = list(rows)
        results: list[Any] = []
        for gate in gates_of_assets(self.gates)[store.asset]:
            met = [replay(row, gate) for row in waiting]
            for result in met:
                if not result.passed:
                    candidate, reason = result.row, result.verdicts[-1].reason
                    note(
                        store.context,
                        f"{candidate[self.shown]} ({candidate[self.key][:12]}) blocked at {result.gate}: "
                        f"{reason}",
                    )
            waiting = [result.row for result in met if result.passed]
            results += met
        store.verdicts(verdict for result in results for verdict in result.verdicts)
        evidence = evidence_counts(results)
        note(store.context, f"{store.asset}: evidence: {evidence}")
        store.context.add_output_metadata(
            {
                "judged": len(rows),
                "passed": len(waiting),
                "blocked": len(rows) - len(waiting),
                "ruleset": ruleset.hash,
                "evidence": evidence,
            }
        )
        return results

    def define(
        self, replayed: Replayed, tables: Mapping[str, Table], other: Table, candidates: str, rules: Upstream
    ) -> dict[str, dg.AssetsDefinition]:
        """Return asset -> its definition, after the one before it. tables: what assets publish that have
        their own table. other: what the rest do.

        candidates: the asset whose rows come to the gates.
        """
        defined: dict[str, dg.AssetsDefinition] = {}
        for asset, gates in gates_of_assets(self.gates).items():
            table = tables.get(asset, other)
            defined[asset] = self.line.asset(
                name=asset,
                deps=[rules, *defined],
                gates=[gate.name for gate in gates],
                schema=table.schema,
                kinds=table.kinds,
                ins={"candidates": dg.AssetIn(key=self.line.key(candidates))},
                description=_described(gates),
            )(_judging(self.line, table, replayed))
        return defined


def evidence_counts(results: Sequence[GateResult]) -> str:
    """Return how much evidence was there already, and how much was made now."""
    reused = sum(result.reused for result in results)
    return f"{reused} reused, {len(results) - reused} made"


def _judging(line: Line, table: Table, replayed: Replayed) -> Callable[..., pl.DataFrame]:
    def judging(
        context: dg.AssetExecutionContext,
        lake: LakeResource,
        compute: ComputeResource,
        candidates: pl.DataFrame,
    ) -> pl.DataFrame:
        store = LineStore(line, context, lake, compute)
        return table.schema.frame(table.rows(store, replayed(store, candidates)))

    return judging


def _described(gates: Sequence[GateSpec]) -> str:
    numbers = sorted({gate.number for gate in gates})
    return (
        f"Gate{'s' * (len(numbers) > 1)} {' and '.join(map(str, numbers))}: "
        f"{'; '.join(gate.about or gate.name for gate in gates)}."
    )
