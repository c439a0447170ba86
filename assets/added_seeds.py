"""Added seeds: seeds that were added to a line that has begun, taken in by the asset that opens a cycle.

Which they are is fixed when the cycle is first done, in the table `<line>.immigrants` with their bytes as
blobs: a re-run of the cycle takes in the same, whatever has become of the folder. Their rows are a table of
the cycle, which the archive of the cycle includes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from assets.line import FIRST_CYCLE, SEED_ROUND
from assets.store import LineStore
from evolake.errors import InputError
from evolake.lake import ARTIFACTS, VERDICTS, following, side_table
from evolake.lake.schemas import ADDED_SEEDS, ENTERED

if TYPE_CHECKING:
    from evolake.gates import Verdict
    from evolake.lake.added_seeds import SeedItem
    from evolake.lake.population import Tables

Row = Mapping[str, Any]
P = TypeVar("P", bound="Tables")


@dataclass(frozen=True)
class Seedling:
    """A seed that is to enter. blob_sha: its bytes as they are kept; None where they could not be, for
    `fault`."""

    name: str
    seed_sha: str
    blob_sha: str | None
    fault: str = ""


@dataclass(frozen=True)
class Arrival:
    """A seed after its gates: its row of the population's table, and the verdicts on it.

    present: it was in the population already, as that row. reason: why it was blocked, where the row does not
    say it.
    """

    row: Mapping[str, Any]
    verdicts: Sequence[Verdict] = ()
    present: bool = False
    reason: str = ""


Admit = Callable[[Seedling], Arrival]
"""What becomes of a seed. An InputError is the seed's fault."""


def admit_seeds(
    store: LineStore, population: Tables, items: Callable[[], Sequence[SeedItem]], table: str, admit: Admit
) -> None:
    """Take in what is new among the seeds, in an asset that has just opened its cycle. Publishes what came of
    each; `archive` has them from now on.

    Args:
        population: as it was sealed. items: what is in the folder; asked where the cycle was never done
            before. table: of the population, that of individuals.

    Raises:
        MachineryError: from judging.
    """
    from evolake.lake.added_seeds import enters

    ruleset, entered = store.rules().hash, population.value(ENTERED, {})
    earlier = _noted(store)
    waiting = _kept(store, items(), entered, ruleset) if earlier is None else earlier
    key = population.schemas[table].keys[0]
    notes: list[dict[str, Any]] = []
    arrived: dict[str, Arrival] = {}
    for seed in waiting:
        if not enters(entered.get(seed.seed_sha), ruleset):
            continue
        result = _judged(seed, admit)
        if (
            isinstance(result, Arrival)
            and (twin := arrived.get(result.row[key]))
            and twin.row["state"] != "blocked"
        ):
            result = Arrival(twin.row, present=True)  # another seed of this cycle comes to the same artifact
        notes.append(
            {
                "cycle": store.cycle,
                "name": seed.name,
                "seed_sha": seed.seed_sha,
                "blob_sha": seed.blob_sha,
                "ruleset_hash": ruleset,
                **_outcome(result, key),
            }
        )
        if isinstance(result, Arrival) and not result.present:
            arrived[result.row[key]] = result
        store.log(f"added seed {seed.name}: {notes[-1]['state']} {notes[-1]['reason'] or ''}")
    rows = [arrival.row for arrival in arrived.values()]
    noted = {note["seed_sha"] for note in notes}
    refused = [note for note in _refused_before(store, population, table) if note["seed_sha"] not in noted]
    store.extra(ADDED_SEEDS, [*notes, *refused])
    store.extra(population.schemas[table], rows, _rows_table(table))
    store.artifacts(rows, name=side_table(ADDED_SEEDS.name, ARTIFACTS))
    verdicts = (verdict.row() for arrival in arrived.values() for verdict in arrival.verdicts)
    store.extra(VERDICTS, verdicts, side_table(ADDED_SEEDS.name, VERDICTS))
    if new := [note["state"] for note in notes if note["state"] != "present"]:
        store.tell(
            {"immigrants": f"{len(new) - new.count('blocked')} entered, {new.count('blocked')} blocked"}
        )


def with_added_seeds(store: LineStore, population: P, table: str) -> P:
    """Return the population that entered the cycle, with the seeds that entered next to it."""
    from evolake.lake.added_seeds import entry

    notes = (
        [note for note in store.rows(ADDED_SEEDS.name) if not _refused_at_start(note)]
        if store.has(ADDED_SEEDS.name)
        else []
    )
    if not notes:
        return population
    entered = population.value(ENTERED, {}) | {note["seed_sha"]: entry(note) for note in notes}
    return population.updated(**{table: store.rows(_rows_table(table))}).with_values(**{ENTERED: entered})


def with_seeds(
    store: LineStore, population: P, items: Iterable[SeedItem], table: str, rows: Sequence[Row]
) -> P:
    """Return the population of cycle 0001 with a note of the seeds that it was made of. Refused seeds are
    named on the screen.

    rows: of `table`, one per item.
    """
    from evolake.lake.added_seeds import entry

    items = list(items)
    for item, row in zip(items, rows, strict=True):
        if row["state"] == "blocked":
            store.refused(item.name, row["reason"] or "no reason is given")
    ruleset, key = store.rules().hash, population.schemas[table].keys[0]
    entered = {
        item.sha: entry(
            {
                "name": item.name,
                "cycle": store.cycle,
                "artifact_id": row[key],
                "state": "blocked" if row["state"] == "blocked" else "accepted",
                "ruleset_hash": ruleset,
            }
        )
        for item, row in zip(items, rows, strict=True)
    }
    return population.with_values(**{ENTERED: entered})


def _refused_before(store: LineStore, population: Tables, table: str) -> list[dict[str, Any]]:
    """Return rows of `ADDED_SEEDS` for the seeds that were refused when the first population was sealed; none
    but in the first cycle."""
    if store.cycle != FIRST_CYCLE:
        return []
    frame = getattr(population, table)
    reasons = (
        dict(frame.select(population.schemas[table].keys[0], "reason").iter_rows())
        if "reason" in frame.columns
        else {}
    )
    return [
        {
            "cycle": store.cycle,
            "name": known["name"],
            "seed_sha": sha,
            "blob_sha": None,
            "artifact_id": known["artifact_id"],
            "state": "blocked",
            "reason": reasons.get(known["artifact_id"]),
            "ruleset_hash": known["ruleset_hash"],
        }
        for sha, known in sorted(population.value(ENTERED, {}).items())
        if known["state"] == "blocked" and known["cycle"] == SEED_ROUND
    ]


def _noted(store: LineStore) -> list[Seedling] | None:
    """Return the seeds that entered this cycle when it was done; None where it was never done. Those that
    were refused before it are not among them."""
    if store.lake.seals.read(store.line.name, following(store.cycle)) is None or not store.has(
        ADDED_SEEDS.name
    ):
        return None
    return [
        Seedling(row["name"], row["seed_sha"], row["blob_sha"], row["reason"] or "")
        for row in store.rows(ADDED_SEEDS.name)
        if not _refused_at_start(row)
    ]


def _refused_at_start(note: Row) -> bool:
    """Return True for a seed that was refused when the first population was sealed: the state has it, and its
    bytes were not kept."""
    return note["blob_sha"] is None and note["artifact_id"] is not None


def _kept(
    store: LineStore, items: Iterable[SeedItem], entered: Mapping[str, Row], ruleset: str
) -> list[Seedling]:
    """Return the seeds that enter now, their bytes kept as blobs."""
    from evolake.lake.added_seeds import waiting

    result: list[Seedling] = []
    for item in waiting(items, entered, ruleset):
        try:
            if item.also is not None:
                store.blobs.put(item.also())
            result.append(Seedling(item.name, item.sha, store.blobs.put(item.pack())))
        except InputError as error:
            result.append(Seedling(item.name, item.sha, None, str(error)))
    return result


def _judged(seed: Seedling, admit: Admit) -> Arrival | str:
    """Return what became of it, or why it cannot be read. What judging it raises is its block, as of any
    candidate."""
    from evolake.gates.boundary import Raised, contained

    if seed.blob_sha is None:
        return seed.fault
    try:
        result = contained(admit, seed)
    except InputError as error:
        return str(error)
    return result.reason if isinstance(result, Raised) else result


def _outcome(result: Arrival | str, key: str) -> dict[str, Any]:
    """Return the columns of `ADDED_SEEDS` that say what became of a seed. key: of its artifact."""
    if isinstance(result, str):
        return {"artifact_id": None, "state": "blocked", "reason": result}
    blocked = result.row["state"] == "blocked" and not result.present
    if result.present:
        state = "present"
    elif blocked:
        state = "blocked"
    else:
        state = "accepted"
    return {
        "artifact_id": result.row[key],
        "state": state,
        "reason": (result.reason or result.row.get("reason")) if blocked else None,
    }


def _rows_table(table: str) -> str:
    return f"immigrant_{table}"
