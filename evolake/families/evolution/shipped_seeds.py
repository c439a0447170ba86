"""The seed families that are shipped, as folders below `families` of the seeds, each with a generator.py; and
their evidence, so that the first minutes of a lake are not spent on what the gates of every lake see alike.

`evidence/families.jsonl.xz` next to the seeds has one line per family, a seed or one with a planted fault:
what each gate saw under the operators. A line counts only if everything it depends on is the same here: the
family to the byte, the code of the gates and of what runs in the jail, the sizes that gates read, the root
seed, and Python's minor version (the work of a validator is counted in source lines). Any other family is
taken through the gates, and no verdict is shipped: rules judge the evidence as they are now. What is most
like a family depends on the families there are, so it is compared again.

Some families, drawn again for each root seed, go through the gates all the same. If their evidence is another
than the shipped, that is an error.

Which code made a line is a hash over the modules that could have had a part in it. They are found by their
imports, and templates of programs by the calls that load them, so that no list of them can be forgotten. A
change of a comment or a docstring changes nothing.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import lzma
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evolake import gates
from evolake.errors import InputError, MachineryError
from evolake.families.evolution.records import gates_seen
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.specs import GATES, own_modules
from evolake.families.gates.static import nearest
from evolake.families.model.contract import GENERATOR, TEMPLATE, VALIDATOR, Family, as_json, to_record
from evolake.families.model.family_files import read_family
from evolake.families.model.similarity import Fingerprint
from evolake.families.settings import FamiliesSettings
from evolake.gates import GateResult, Ruleset
from evolake.lake import disk
from evolake.lake.added_seeds import SeedItem, SeedSource, folder_item
from evolake.parsing import parse_python
from evolake.reading import decompress, read_bytes
from evolake.seeds import generator
from evolake.settings import Settings

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_version(roots: Sequence[str], carriers: Sequence[str] = (), package: str = "evolake") -> str:
    """Return 64 hex digits over the syntax trees of `roots` and of all modules of `package` that they import,
    at whatever depth.

    carriers: modules, with all below them, that hand values on without a part in them; neither they nor what
    they import is looked at, unless it is a root. Trees differ between minor versions of Python.
    """
    digest = hashlib.sha256()
    for name, source in sorted(sources_behind(roots, carriers, package).items()):
        digest.update(f"{name}\0{ast.dump(_bare(parse_python(source)))}\0".encode())
    return digest.hexdigest()


def sources_behind(
    roots: Sequence[str], carriers: Sequence[str] = (), package: str = "evolake"
) -> dict[str, str]:
    """Return module -> source text of the modules that `code_version` looks at; parameters as there."""
    result: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in result or (
            name not in roots
            and any(name == carrier or name.startswith(f"{carrier}.") for carrier in carriers)
        ):
            continue
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        result[name] = Path(spec.origin).read_text(encoding="utf-8")
        waiting += _imported(parse_python(result[name]), package)
    return result


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package:
            yield node.module
            yield from (name for alias in node.names if _is_module(name := f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == package)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("load_template", "fill_template")
        ):
            yield from (
                value.value
                for value in node.args[:1]
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            )


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # `a.b.c` where `a.b` is no package
        return False


def _bare(tree: ast.Module) -> ast.Module:
    """Without docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED):
            node.body = list(_statements(node.body))
    return tree


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if not (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        ):
            yield statement


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """In the order in which `read_families` reads them."""
    return [folder_item(path.parent) for path in sorted((seeds / SEEDS.folder).glob(f"*/{GENERATOR}"))]


def check(path: Path) -> str:
    """Raise InputError if the folder is no family that the gates could look at; what its code does is for
    them."""
    if not accepts(path):
        wanted = f"a folder with {GENERATOR}, {TEMPLATE} and {VALIDATOR}"
        raise InputError(f"{path} is no task family", wanted=wanted, do="see evolake families --help")
    return read_family(path).name


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return (path / GENERATOR).is_file()


SEEDS = SeedSource("families", items, accepts, check)


FILE = Path("evidence", "families.jsonl.xz")
"""Below the seeds."""
MOST_BYTES = 512 << 20
"""Limit of the file, and of its text."""
ROOTS = (
    "evolake.families.gates.judging",
    *own_modules(),
    "evolake.families.sandbox.driver",
    "evolake.families.text_solver.reviewing",
    "evolake.jail.drivers",
    "evolake.jail.inside.candidate",
)
CARRIERS = (
    "evolake.agents",
    "evolake.errors",
    "evolake.families.settings",
    "evolake.gates",
    "evolake.jail",
    "evolake.lake",
    "evolake.settings",
)
NOT_OF_GATES = frozenset(
    {
        "band_weights",
        "checked_evidence",
        "composition_depth",
        "drift_difficulties",
        "drift_samples",
        "evolution_agent",
        "families_per_cycle",
        "instance_rounds",
        "instances_per_family",
        "learnability",
        "learnability_cycles",
        "learnability_floor",
        "learnability_groups",
        "measured_drafts",
        "planted_faults",
        "refinements",
        "seed_review",
        "trivial_steps",
        "validator_authors",
        "world_share",
    }
)
"""Settings that no gate reads; every other one, also one that is yet to be added, is part of a key."""
LIMITS = frozenset({"cpu", "killed", "memory", "output", "protocol", "steps", "timeout"})
"""Statuses of what met a limit of the jail."""
Gates = Mapping[str, Mapping[str, Any]]
"""Gate -> {"evidence", "rows"}, as `records.load_evidence` gives it."""
Examine = Callable[[Family, Sequence[Fingerprint]], FamilyResults]


@dataclass(frozen=True)
class FamilyEvidence:
    """What the gates saw of one family. fingerprint: as JSON; "" if no sample was drawn."""

    name: str
    gates: Gates
    fingerprint: str


def evidence_key(family: Family, settings: FamiliesSettings, root_seed: int) -> str:
    """Return 64 hex digits over everything that the operators' evidence on a family depends on."""
    sizes = settings.model_dump(exclude=set(NOT_OF_GATES))
    parts = {
        "family": to_record(family),
        "code": _code(),
        "python": list(sys.version_info[:2]),
        "sizes": sizes,
        "root_seed": root_seed,
    }
    return hashlib.sha256(as_json(parts).encode()).hexdigest()


@functools.cache
def _code() -> str:
    return code_version(ROOTS, CARRIERS)


def entry_of(examined: FamilyResults) -> FamilyEvidence | None:
    """Return a family's evidence, compared with no other family; None where a limit of the jail had a part in
    it, which another machine may not meet."""
    seen = json.loads(as_json(gates_seen(examined)))
    if any(word in LIMITS for word in _words(seen)):
        return None
    if "static" in seen:
        seen["static"]["evidence"]["nearest"] = []
    return FamilyEvidence(
        examined.family.name, seen, examined.fingerprint.to_json() if examined.fingerprint else ""
    )


def beyond_operators(
    family: Family, sizes: FamiliesSettings, root_seed: int, shipped: Mapping[str, FamilyEvidence]
) -> bool:
    """Return whether operators cannot review a seed family, for want of validators or of a reader: that is
    left to whom the backend asks."""
    lacking = len(family.validators) < sizes.validators or family.reader is None
    return lacking and evidence_key(family, sizes, root_seed) not in shipped


def left_to_model(items: Iterable[SeedItem], settings: Settings) -> Iterator[SeedItem]:
    """Yield the seeds that a model reviews though `seed_review` is `shipped`. One that cannot be read is none
    of them."""
    shipped = read_entries(settings.seeds / FILE)
    for item in items:
        assert item.path is not None
        with suppress(InputError):
            if beyond_operators(
                read_family(item.path), settings.of(FamiliesSettings), settings.seed, shipped
            ):
                yield item


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.split(":")[0]
    elif isinstance(value, dict | list):
        named = isinstance(value, dict)  # what rules are called is no status
        for item in [value[key] for key in value if key != "bites"] if named else value:
            yield from _words(item)


def read_entries(path: Path) -> dict[str, FamilyEvidence]:
    """Return key -> entry; {} if there is no such file.

    Raises:
        InputError: it is not what `write_entries` writes.
    """
    try:
        packed = read_bytes(path, MOST_BYTES)
        lines = decompress(packed, MOST_BYTES, name=str(path), kind="xz").decode().splitlines()
        return {
            line["key"]: FamilyEvidence(line["name"], line["gates"], line["fingerprint"])
            for line in map(json.loads, lines)
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        do = "restore it, or remove it: the evidence is then made here"
        raise InputError(
            f"the shipped evidence {path} cannot be read",
            wanted="lines of JSON, packed by xz",
            got=str(error),
            do=do,
        ) from None


def write_entries(entries: Mapping[str, FamilyEvidence], path: Path) -> None:
    """Write the file: the same entries give the same bytes."""
    ordered = sorted(entries.items(), key=lambda item: (item[1].name, item[0]))
    lines = [
        as_json({"key": key, "name": entry.name, "gates": entry.gates, "fingerprint": entry.fingerprint})
        for key, entry in ordered
    ]
    disk.make_folder(path.parent)
    disk.write_atomic(
        path,
        lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME),
        tag=str(os.getpid()),
    )


def drawn(expected: int, count: int, root_seed: int, purpose: str) -> frozenset[int]:
    """Return which of `expected` uses of shipped evidence are checked: their places, 0 for the first."""
    return frozenset(
        generator(root_seed, "families", "*", f"shipped evidence of {purpose}")
        .permutation(expected)[:count]
        .tolist()
    )


def results_of(
    entry: FamilyEvidence,
    family: Family,
    known: Sequence[Fingerprint],
    ruleset: Ruleset,
    *,
    cycle: str,
    run_id: str,
) -> tuple[FamilyResults, Gates] | None:
    """Return the family by shipped evidence and the rules in force, with that evidence; None where it is no
    use next to the families of `known`: the quality reviewer was shown that no other has its text, and now
    one does."""
    seen, ours = dict(entry.gates), Fingerprint.from_json(entry.fingerprint) if entry.fingerprint else None
    if ours is not None:
        relatives = nearest(ours, known)
        if "quality" in seen and any(item["same_text"] for item in relatives):
            return None
        seen["static"] = {**seen["static"], "evidence": {**seen["static"]["evidence"], "nearest": relatives}}
    results: list[GateResult] = []
    for gate in GATES:
        if gate.name not in seen or not gates.is_usable(gate, seen[gate.name]["evidence"]):
            return None
        results.append(
            gates.replay_gate(
                gate,
                seen[gate.name]["evidence"],
                ruleset,
                artifact_id=family.family_id,
                cycle=cycle,
                run_id=run_id,
            )
        )
        if not results[-1].passed:
            break
    accepted = len(results) == len(GATES) and results[-1].passed
    matches = FamilyResults(family.family_id, tuple(results), accepted, family, fingerprint=ours)
    return matches, {result.gate: seen[result.gate] for result in results}


@dataclass
class ShippedGates:
    """The gates, by shipped evidence if there is some. Of the first `expected` families that have some, a
    drawn few are examined all the same.

    entries: key -> entry, see `read_entries`; {} where another backend than the operators reviews. examine:
    all gates. purpose: what is drawn for.
    """

    entries: Mapping[str, FamilyEvidence]
    path: Path
    examine: Examine
    ruleset: Ruleset
    settings: FamiliesSettings
    root_seed: int
    cycle: str
    run_id: str
    expected: int
    purpose: str = "seeds"
    shipped: int = 0
    checked: int = 0
    made: int = 0

    def judge(self, family: Family, known: Sequence[Fingerprint]) -> tuple[FamilyResults, Gates]:
        """Return the family after its gates, compared with `known`, and its evidence.

        Raises:
            MachineryError: the jail failed, or the shipped evidence is not what the gates see.
        """
        entry = self.entries.get(evidence_key(family, self.settings, self.root_seed))
        shipped = entry and results_of(
            entry, family, known, self.ruleset, cycle=self.cycle, run_id=self.run_id
        )
        if shipped is None:
            self.made += 1
            examined = self.examine(family, known)
            return examined, gates_seen(examined)
        self.shipped += 1
        if self.shipped - 1 in drawn(
            self.expected, self.settings.checked_evidence, self.root_seed, self.purpose
        ):
            self.checked += 1
            self._check(family, gates_seen(self.examine(family, known)), shipped[1])
        return shipped

    def describe(self) -> str:
        """Return how much evidence came with the seeds, and how much was made."""
        return f"{self.shipped} shipped ({self.checked} re-verified here), {self.made} made"

    def _check(self, family: Family, made: Gates, shipped: Gates) -> None:
        if differing := [
            gate.name for gate in GATES if as_json(made.get(gate.name)) != as_json(shipped.get(gate.name))
        ]:
            raise MachineryError(
                f"the shipped evidence of the family {family.name!r} is not what its gates see here",
                wanted=f"what {self.path} holds",
                got=f"other evidence of the gate {differing[0]!r}",
                do="report it to the project; without that file the evidence is made here",
            )
