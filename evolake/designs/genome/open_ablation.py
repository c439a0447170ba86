"""Leaves one term at a time out of a genome of the open grammar: what a term does shows in what is lost
without it.

A term is an operand of a sum or a difference in a drive, or a further memory. A term is left out by putting 0
in its place; a memory, by putting 0 wherever it is read. What cannot be left out (nothing would be left, or
the numbers leave the finite) is not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evolake.designs.genome.open_behaviour import fingerprint
from evolake.designs.genome.open_expression import Expression, places, replaced
from evolake.designs.genome.open_genetic import shown
from evolake.designs.genome.open_genome import Memory, OpenGenome, cleared, open_genome
from evolake.errors import InputError


@dataclass(frozen=True)
class Ablation:
    """A genome without one term. slot: the drive that it was in, or "memory"; term: the term as people read
    it."""

    slot: str
    term: str
    genome: OpenGenome

    def __str__(self) -> str:
        return f"{self.slot}: {self.term}"


def ablations(base: OpenGenome) -> list[Ablation]:
    """Return `base` without each of its terms, those that behave alike once."""
    seen, result = {base.key()}, []
    for slot, term, drives, memories in (*_without_memories(base), *_without_terms(base)):
        try:
            made = open_genome(drives, memories, base.constants)
        except InputError:  # a memory that follows nothing any more
            continue
        if fingerprint(made) and made.key() not in seen:
            seen.add(made.key())
            result.append(Ablation(slot, term, made))
    return result


Parts = tuple[str, str, dict[str, Expression], list[Memory]]


def _without_terms(base: OpenGenome) -> Iterator[Parts]:
    for slot, drive in base.all_drives().items():
        everything = dict(places(drive))
        for path, term in everything.items():
            parent = everything[path[:-1]] if path else None
            if not isinstance(parent, tuple) or parent[0] not in ("add", "sub"):
                continue
            without = replaced(drive, path, 0.0)
            drives = {name: without if name == slot else held for name, held in base.drives}
            memories = [
                replace(memory, drive=without) if memory.name == slot else memory for memory in base.memories
            ]
            sign = "-" if parent[0] == "sub" and path[-1] == 2 else ""
            # a bare name or number says nothing without the sum that it is of
            where = "" if isinstance(term, tuple) else f" in {shown(parent, 60)}"
            yield slot, f"{sign}{shown(term, 80)}{where}", drives, memories


def _without_memories(base: OpenGenome) -> Iterator[Parts]:
    for gone in base.memories:
        drives = {slot: cleared(drive, gone.name) for slot, drive in base.drives}
        kept = [
            replace(memory, drive=cleared(memory.drive, gone.name))
            for memory in base.memories
            if memory.name != gone.name
        ]
        yield "memory", f"{gone.name} over each {gone.axis}: {shown(gone.drive, 80)}", drives, kept
