"""The archive of the families line: what enters a cycle and what leaves it. Rows are added and values filled
in; none is removed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.families.model.contract import Family, as_json, from_record, to_record
from evolake.families.model.similarity import Fingerprint
from evolake.families.tables import ARCHIVE
from evolake.lake import BlobStore
from evolake.lake.population import Archive

PASSED = ("accepted", "retired")
"""States of families that every gate let through."""


@dataclass(frozen=True)
class Population(Archive):
    """The tables of the archive, each a frame of its schema in `tables.ARCHIVE`."""

    schemas = ARCHIVE

    families: pl.DataFrame
    experience: pl.DataFrame

    def known(self) -> list[Fingerprint]:
        """Return fingerprints of every family that passed, the retired too: what a new one must differ
        from."""
        return [Fingerprint.from_json(row["fingerprint"]) for row in self.rows(*PASSED) if row["fingerprint"]]

    def lessons(self) -> list[str]:
        """Return the items of the experience, oldest first."""
        return self.experience.sort("number")["item"].to_list()

    def without_instances(self) -> list[dict[str, Any]]:
        """Return accepted families that no instance was sampled of yet."""
        return [row for row in self.rows("accepted") if row["instances"] is None]

    def with_cycle(
        self, rows: Iterable[Mapping[str, Any]], derivations: Iterable[Mapping[str, Any]]
    ) -> Population:
        """Return a cycle's families with their parents. Of a family that is here already the row stays,
        unless it was blocked and is accepted now."""
        given = [dict(row) for row in rows]
        accepted = {row["family_id"] for row in given if row["state"] == "accepted"}
        kept = [row for row in self.rows() if row["state"] in PASSED or row["family_id"] not in accepted]
        return self.with_tables(families=kept).add(families=given, derivations=derivations)

    def with_survivors(self, lives: Mapping[str, bool]) -> Population:
        """Return the archive with families that passed every gate, accepted where they live on and retired
        where not; those that are not named, and blocked ones, stay."""
        states = {True: "accepted", False: "retired"}
        return self.with_tables(
            families=[
                row | {"state": states[lives[row["family_id"]]]}
                if row["state"] in PASSED and row["family_id"] in lives
                else row
                for row in self.rows()
            ]
        )

    def with_experience(self, items: Iterable[str], cycle: str) -> Population:
        """Return the experience replaced. An item that was there keeps the cycle that it was learnt in."""
        since = {row["item"]: row["cycle"] for row in self.experience.to_dicts()}
        rows = [
            {"number": number, "cycle": since.get(item, cycle), "item": item}
            for number, item in enumerate(items)
        ]
        return self.with_tables(experience=rows)

    def with_instances(self, counts: Mapping[str, int]) -> Population:
        """Return how many instances were sampled of which family."""
        rows = [row | {"instances": counts.get(row["family_id"], row["instances"])} for row in self.rows()]
        return self.with_tables(families=rows)


def empty_population() -> Population:
    """Return an archive without rows."""
    return Population.empty()


def population_of(tables: Mapping[str, pl.DataFrame]) -> Population:
    """Return the archive from its published tables. Raises InputError where one does not fit its schema."""
    return Population.of(tables)


def store_family(family: Family, blobs: BlobStore) -> str:
    """Keep a family as a blob; gives its sha."""
    return blobs.put(as_json(to_record(family)).encode())


def load_family(record_sha: str, blobs: BlobStore) -> Family:
    """Return the family of a row. Raises CorruptPart where the blob is not what was stored."""
    return from_record(json.loads(blobs.get(record_sha)))
