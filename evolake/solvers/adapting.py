"""Propose the adapter of an upstream tree, and try it: what `evolake solvers adapt` does.

A way to build is found by building (`adapting_trees`), the program by looking at what the build left, its
command lines by running it (`adapting_probes`). Then the adapter is tried as a user would: the tree is laid
out, goes through all gates, and is measured on a few small formulas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.jail.protocol import one_line
from evolake.lake import BlobStore, Lake, disk
from evolake.report.numbers import counted
from evolake.scratch import Scratch
from evolake.settings import load
from evolake.solvers.adapting_probes import Formulas, Probed, probe
from evolake.solvers.adapting_trees import Recipe, Upstream, open_upstream, patch_of, read_upstream, ways_of
from evolake.solvers.gates.verifying import verify_folder
from evolake.solvers.measurement.benchmark import MeasuringOptions
from evolake.solvers.measurement.repositories import SuiteChoice, bench_folders
from evolake.solvers.repository.adapters import read_adapter
from evolake.solvers.repository.build import BuildLimits, build_variant
from evolake.solvers.repository.seeds_file import load_seeds
from evolake.solvers.repository.variant import create_variant

ORDER = ("name", "licences", "editable", "build_files", "tunables", "layout", "build", "run", "statistics")


def adapter_text(values: Mapping[str, Any], remarks: Sequence[str]) -> str:
    """Return the TOML of an adapter. values: fields and tables by name. remarks: comments at the top, one
    line each."""
    plain = [name for name in ORDER if name in values and not isinstance(values[name], Mapping)]
    lines = [
        *(f"# {' '.join(remark.split())}" for remark in remarks),
        *(f"{name} = {_value(values[name])}" for name in plain),
    ]
    for name in ORDER:
        if isinstance(table := values.get(name), Mapping) and table:
            lines += ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # JSON's escapes are those of TOML's basic strings; a regular expression is read more easily as a literal
    # one.
    if isinstance(value, str) and "\\" in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value)


FOUND = "found"
LISTING = """\
find build -type f -perm -100 ! -name '*.so*' ! -name '*.o' ! -path '*/CMakeFiles/*' | sort | while read -r f; do
  if [ "$(head -c 4 "$f" | tr -d '\\177')" = ELF ]; then printf '%s %s\\n' "$(wc -c < "$f")" "$f"; fi
done > bin/list
{ wc -l < bin/list; cat bin/list; while read -r size f; do cat "$f"; done < bin/list; } > bin/found
"""  # noqa: E501
"""The last command of a build that looks for programs: how many there are, size and path of each, then their
bytes."""
LIMITS = BuildLimits(file_mb=256)
MOST_PROGRAMS, MOST_LISTED = 6, 60
BENCHED = 8
_NO_HEADER = re.compile(r"fatal error: (\S+): No such file")
UNPROVED = (
    "the gate correctness takes no UNSAT answer without a proof: if the program can write DRAT or LRAT, "
    "say how in [run]"
)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Adapted:
    """What came of adapting a tree.

    verdict: "accepted" by every gate with its proofs, "blocked" if the adapter was written and a gate or a
    run minds, or "failed" if none could be proposed. build: the way to build that worked, "" if none did.
    toml: the file that was written. found: what was found, a line each. reasons: why it is not accepted, a
    sentence each.
    """

    source: Path
    name: str
    verdict: str
    build: str
    toml: Path | None
    found: tuple[str, ...]
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "verdict": self.verdict,
            "name": self.name,
            "build": self.build,
            "adapter": str(self.toml) if self.toml else None,
            "found": list(self.found),
            "reasons": list(self.reasons),
            "next": self.next_command,
        }

    @property
    def next_command(self) -> str | None:
        """Return the command that makes a repository of the tree; None if there is no adapter."""
        if self.toml is None:
            return None
        number = next(number for number in range(1, 1000) if not Path(_out(self.name, number)).exists())
        return f"evolake solvers layout {self.source} --adapter {self.toml} --out {_out(self.name, number)}"


def _out(name: str, number: int) -> str:
    return f"{name}-repository" + (f"-{number}" if number > 1 else "")


def adapt(
    source: Path,
    toml: Path | None = None,
    *,
    profile: str | None = None,
    on_progress: Progress = lambda text: None,
) -> Adapted:
    """Propose an adapter for the archive or folder `source`, and take the tree through all gates by it; as
    `propose`."""
    tree, result = propose(source, toml, profile=profile, on_progress=on_progress)
    if result.verdict != "accepted":
        return result
    on_progress("take it through the gates")
    return _tried(result, tree, profile)


def propose(
    source: Path,
    toml: Path | None = None,
    *,
    profile: str | None = None,
    on_progress: Progress = lambda text: None,
) -> tuple[Upstream, Adapted]:
    """Propose an adapter for the archive or folder `source`; "accepted" means that its program answers and
    proves.

    toml: file to write; by default NAME.toml here.

    Raises:
        InputError: `source` is no upstream tree, or `toml` exists. MachineryError: no compiler, or a sandbox
            that does not work.
    """
    settings = load(profile)
    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    folder = open_upstream(source, cache)
    tree = read_upstream(folder)
    if tree.name in load_seeds(settings.seeds / "solvers.toml"):
        # A tree of a seed's name is judged against that seed's sources, which may be of another version.
        tree = replace(tree, name=f"{tree.name}-own")
    target = toml or Path(f"{tree.name}.toml")
    if target.suffix != ".toml":
        raise InputError(
            f"{target} is no name for an adapter",
            wanted="a file NAME.toml",
            got=target.name,
            do="let -o end in .toml",
        )
    for path in (target, target.with_suffix(".diff")):
        if path.exists():
            raise InputError(
                f"{path} is there already",
                wanted="a new file",
                got=str(path),
                do="name another with -o, or remove it",
            )
    with Scratch("adapt") as work:
        return tree, _proposed(source, tree, target, blobs, Path(work), on_progress)


def _proposed(
    source: Path, tree: Upstream, target: Path, blobs: BlobStore, work: Path, on_progress: Progress
) -> Adapted:
    found = [f"{sum(tree.counts.values())} source files, licence {', '.join(tree.licences) or 'none'}"]
    if not tree.licences:
        reason = (
            "there is no licence file (LICENSE, COPYING, ...) in its top folder: put the licence that it "
            "has there, then adapt it again"
        )
        return Adapted(source, tree.name, "failed", "", None, tuple(found), (reason,))
    patch, changed = patch_of(tree, work / "changed")
    ways, reasons = ways_of(tree), []
    for recipe in ways.recipes:
        on_progress(f"build by {recipe.about}")
        built = _programs(tree, recipe, patch, blobs, work)
        if (
            isinstance(built, str)
            and not tree.plain_c
            and "error" in built
            and recipe.table.get("system") != "cmake"
        ):
            on_progress(f"it does not compile; build by {recipe.lenient().about}")
            recipe, first = recipe.lenient(), built
            if isinstance(built := _programs(tree, recipe, patch, blobs, work), str):
                built = first
        if isinstance(built, str):
            reasons.append(f"{recipe.about}: {built}")
            continue
        found.append(f"built by {recipe.about}; programs: {', '.join(sorted(built))}")
        on_progress("run it")
        product, probed = _best(tree.name, built, work)
        values = _values(tree, recipe, product, probed, bool(patch), target)
        found += _lines(product, probed) + [f"patched: {line}" for line in changed]
        _write(
            target,
            adapter_text(
                values, [f"{tree.name}, proposed by `evolake solvers adapt`.", *probed.reasons, *changed]
            ),
            patch,
        )
        # Without proofs its fate is known, and the gates' runs, minutes of them, would say nothing more.
        verdict = "accepted" if probed.proof_argv else "blocked"
        more = (UNPROVED,) if probed.argv and not probed.proof_argv else ()
        return Adapted(
            source, tree.name, verdict, recipe.about, target, tuple(found), (*probed.reasons, *more)
        )
    return Adapted(source, tree.name, "failed", "", None, tuple(found), (*ways.reasons, *reasons))


def _tried(result: Adapted, tree: Upstream, profile: str | None) -> Adapted:
    """Return the adapter's verdict by the gates and by a few formulas of the suite `smoke`."""
    assert result.toml is not None
    verified = verify_folder(tree.folder, adapter_name=str(result.toml), profile=profile)
    if (blocked := verified.judged.blocked_by) is not None:
        said = f"; it wrote: {one_line(verified.judged.output, 400)}" if verified.judged.output else ""
        reason = f"the gate {blocked.gate} blocks it: {one_line(blocked.reason, 400)}{said}"
        return replace(result, verdict="blocked", reasons=(*result.reasons, reason))
    report = bench_folders(
        [tree.folder],
        SuiteChoice("smoke", BENCHED),
        MeasuringOptions(profile=profile),
        adapter=str(result.toml),
    )
    [row] = report.metrics.to_dicts()
    line = (
        f"every gate accepts it; it solves {row['solved']:g} of {row['instances']} formulas of the suite "
        "smoke"
    )
    verdict = "accepted" if report.verdict == "measured" else "blocked"
    return replace(
        result, verdict=verdict, found=(*result.found, line), reasons=(*result.reasons, *report.reasons)
    )


def _programs(
    tree: Upstream, recipe: Recipe, patch: str, blobs: BlobStore, work: Path
) -> dict[str, bytes] | str:
    """Path below the repository -> bytes of each program that a build leaves, or why there is none."""
    values = _values(
        tree, recipe, f"build/{FOUND}", Probed(FOUND, (FOUND, "{cnf}")), bool(patch), Path("looked.toml")
    )
    (work / "looked.diff").write_text(patch, encoding="utf-8")
    adapter = read_adapter(adapter_text(values, ()), work)
    adapter = replace(
        adapter,
        build=(*(words for words in adapter.build if words[-1] != adapter.program), ("sh", "-c", LISTING)),
    )
    folder = work / f"looked-{len(list(work.iterdir()))}"
    create_variant(tree.folder, adapter, folder)
    built = build_variant(folder, adapter, blobs, LIMITS)
    if built.program is None:
        missing = _NO_HEADER.search(built.reason)
        advice = (
            f": install the package that holds {missing[1]}, or leave out what needs it" if missing else ""
        )
        return f"{built.reason}{advice}"
    return read_listing(blobs.get(built.program)) or "it ends well, but leaves no program"


def read_listing(data: bytes) -> dict[str, bytes]:
    """Return path -> bytes from what `LISTING` wrote. A listing that is damaged ends where it is; it comes
    from a build by untrusted sources."""
    head, _, rest = data.partition(b"\n")
    count = int(head) if re.fullmatch(rb"\s*\d{1,4}", head) else 0
    entries = []
    for _ in range(min(count, MOST_LISTED)):
        line, _, rest = rest.partition(b"\n")
        if (entry := re.fullmatch(rb"(\d{1,10}) (build(?:/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*)+)", line)) is None:
            return {}
        entries.append((entry[2].decode(), int(entry[1])))
    result, place = {}, 0
    for path, size in entries:
        if place + size > len(rest):
            break
        result[path] = rest[place : place + size]
        place += size
    return result


def _best(name: str, programs: dict[str, bytes], work: Path) -> tuple[str, Probed]:
    """Return the program that answers, the one called as the project first; if none does, the likeliest with
    why it does not."""

    def likely(path: str) -> tuple[bool, bool, int]:
        stem = path.rpartition("/")[2].lower()
        plain = name.removesuffix("-own").rstrip("0123456789")
        return stem not in (name, plain), not stem.startswith(plain[:6]), -len(programs[path])

    formulas, first = Formulas(work / "formulas"), None
    for number, path in enumerate(sorted(programs, key=likely)[:MOST_PROGRAMS]):
        folder = work / f"program-{number}"
        folder.mkdir()
        file = folder / path.rpartition("/")[2]
        file.write_bytes(programs[path])
        file.chmod(0o555)
        probed = probe(folder, file.name, formulas, work / "proofs")
        if probed.argv is not None:
            return path, probed
        first = first or (path, probed)
    assert first is not None
    return first


def _values(
    tree: Upstream, recipe: Recipe, product: str, probed: Probed, patched: bool, target: Path
) -> dict[str, Any]:
    """Return the adapter's fields and tables."""
    program = f"bin/{probed.name}"
    build: dict[str, Any] = dict(recipe.table)
    if "commands" in build:
        build["commands"] = [*build["commands"], ["cp", product, program]]
    else:
        build["product"] = product
    build |= {"environment": recipe.environment} if recipe.environment else {}
    layout: dict[str, Any] = {"from": "."}
    if exclude := [*tree.links, *tree.products]:
        layout["exclude"] = exclude
    if patched:
        layout["patch"] = target.with_suffix(".diff").name
    run: dict[str, Any] = {"argv": list(probed.argv or (probed.name, "{cnf}"))}
    run |= (
        {"proof_argv": list(probed.proof_argv), "proof": probed.proof}
        if probed.proof_argv
        else {"proof": "none"}
    )
    return {
        "name": tree.name,
        "licences": [f"src/{name}" for name in tree.licences],
        "editable": list(tree.editable) or ["src/**"],
        "tunables": _tunables(tree.folder),
        "layout": layout,
        "build": build | {"program": program},
        "run": run,
        "statistics": probed.statistics,
    }


def _tunables(folder: Path) -> str:
    """Return how its options are declared, if operators can read that."""
    if (folder / "src/options.hpp").is_file() and "OPTION" in (folder / "src/options.hpp").read_text(
        errors="replace"
    ):
        return "cadical-options"
    if (folder / "src/options.h").is_file() and "OPTION" in (folder / "src/options.h").read_text(
        errors="replace"
    ):
        return "kissat-options"
    return "minisat-options" if (folder / "core/Solver.cc").is_file() else "none"


def _lines(product: str, probed: Probed) -> list[str]:
    lines = [f"program {product}; {counted(probed.tried, 'command line')} tried"]
    if probed.argv:
        lines.append(f"answers by `{' '.join(probed.argv)}`")
    if probed.proof_argv:
        lines.append(f"proofs by `{' '.join(probed.proof_argv)}`, {probed.proof}")
    if probed.statistics:
        lines.append(f"counters: {', '.join(probed.statistics)}")
    return lines


def _write(target: Path, text: str, patch: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if patch:
        disk.write_atomic(target.with_suffix(".diff"), patch.encode(), tag="adapt")
    disk.write_atomic(target, text.encode(), tag="adapt")
