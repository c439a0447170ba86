"""Commands that bring something of the user's own: a solver's upstream tree (`evolake solvers adapt`,
`layout`), a folder of formulas (`lock`), a tree as a candidate of the next cycle (`submit`).

Exit codes of `adapt`: 0 every gate accepts it; 1 it is blocked, or none could be proposed; 2 no such archive
or folder, or a file that is there already; 3 the machinery failed. Of `layout`: 0 written, 2 for a tree that
the adapter does not fit, an adapter that is not there, or a folder that is not empty. Of `lock`, so that a
file that changes is shown wherever the folder is a suite: 0 locked, 2 for a folder, formula or CSV file that
cannot be used. Of `submit`: 0 kept, 2 for a folder, parent or hypothesis that cannot be used.
"""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import AS_JSON, PROFILE, OrdinaryPath
from evolake.errors import InputError
from evolake.solvers.commands import STATUSES
from evolake.terminal import say, say_json


@click.command(short_help="Propose an adapter for upstream sources and try it.")
@click.argument("source", metavar="ARCHIVE_OR_FOLDER", type=OrdinaryPath())
@click.option(
    "-o",
    "--out",
    "toml",
    type=OrdinaryPath(dir_okay=False),
    default=None,
    help="File to write; default: NAME.toml here.",
)
@PROFILE
@AS_JSON
def adapt(source: Path, toml: Path | None, profile: str | None, as_json: bool) -> int:
    """Write an adapter for the upstream tree ARCHIVE_OR_FOLDER: how it is built and run, found by trying.

    Its configure script, CMake or make builds it in the sandbox, and the program is run on small formulas to
    find command lines for answers and for proofs. Then the tree is laid out, goes through all gates and is
    measured on a few formulas.
    """
    from evolake.solvers.adapting import adapt as propose

    result = propose(
        source,
        toml,
        profile=profile,
        on_progress=lambda text: None if as_json else say(f"  {text}", err=True),
    )
    if as_json:
        say_json(result.to_json())
    else:
        say(f"{result.source}: {result.verdict}{f', adapter {result.toml}' if result.toml else ''}")
        for line in result.found:
            say(f"  {line}")
        for reason in result.reasons:
            say(f"  {'note' if result.verdict == 'accepted' else 'reason'}: {reason}")
        if result.next_command:
            say(
                "  next: "
                f"{'' if result.verdict == 'accepted' else f'edit {result.toml} as said, then '}{result.next_command}"  # noqa: E501
            )
    return 0 if result.verdict == "accepted" else 1


@click.command(short_help="Make a repository of the layout from upstream sources.")
@click.argument("source", metavar="ARCHIVE_OR_DIR", type=OrdinaryPath())
@click.option(
    "--adapter",
    "adapter_name",
    default=None,
    help="The solver's family: how it is laid out, built and run; a name, or a file NAME.toml (no default).",
)
@click.option("--base", default="", help="The seed that it is; default: the adapter's name.")
@click.option(
    "--out", required=True, type=OrdinaryPath(file_okay=False), help="Folder to write, missing or empty."
)
@AS_JSON
def layout(source: Path, adapter_name: str | None, base: str, out: Path, as_json: bool) -> int:
    """Make a repository of the layout from an upstream tree: its sources with the adapter's patch, both
    scripts, the documents.

    ARCHIVE_OR_DIR is a folder, or a tar or zip archive of one.
    """
    from evolake.file_names import check_id
    from evolake.scratch import Scratch
    from evolake.solvers.adapting_trees import open_upstream
    from evolake.solvers.repository.adapters import known_adapters, load_adapter
    from evolake.solvers.repository.variant import create_variant, source_sha

    with Scratch("layout") as work:
        folder = open_upstream(source, Path(work))
        if adapter_name is None:
            known = ", ".join(known_adapters()) or "none"
            wanted = f"--adapter NAME, one of {known}, or a file"
            raise InputError(
                "the solver's family is not named", wanted=wanted, do="name it, or write an adapter for it"
            )
        adapter = load_adapter(adapter_name)
        create_variant(folder, adapter, out, base=check_id("--base", base) if base else "")
    variant_id = source_sha(out)
    if as_json:
        written = {
            "out": str(out),
            "variant_id": variant_id,
            "adapter": adapter.name,
            "base": base or adapter.name,
        }
        say_json({"verdict": "written"} | written)
    else:
        named = f" --adapter {adapter_name}" if adapter_name.endswith(".toml") else ""
        say(f"{out}: variant {variant_id}", f"  next: evolake solvers verify {out} --suite smoke{named}")
    return 0


@click.command(short_help="Write the lock file of a folder of formulas.")
@click.argument("folder", metavar="FOLDER", type=OrdinaryPath())
@STATUSES
@click.option(
    "--source", default="", help="Where the formulas come from, kept with each of them (default: unknown)."
)
@AS_JSON
def lock(folder: Path, statuses: Path | None, source: str, as_json: bool) -> int:
    """Write formulas.lock.json into FOLDER: sha256, variables, clauses, status and source of each formula in
    it.

    Every file is read once. What solvers read differently (a missing or wrong header, CRLF, `+1`) is repaired
    in the copy that they get; what is no CNF is left out. Both are printed and kept in the lock; the files
    stay as they are.
    """
    from evolake.solvers.suites.folders import LOCK, lock_formulas, read_lock, remarks_of

    before = read_lock(folder) if folder.is_dir() else None

    def progress(done: int, total: int, name: str) -> None:
        say(f"{done}/{total} {name}", err=True)

    made = lock_formulas(folder, statuses=statuses, source=source, on_progress=None if as_json else progress)
    pins = made.pins
    counts = {
        status: sum(pin.status == status for pin in pins.values()) for status in ("SAT", "UNSAT", "unknown")
    }
    changed = sorted(name for name, pin in (before.pins if before else {}).items() if pins.get(name) != pin)
    if as_json:
        details = {
            "lock": str(folder / LOCK),
            "formulas": len(pins),
            "statuses": counts,
            "changed": changed,
            "repaired": {name: pin.repairs for name, pin in pins.items() if pin.repairs},
            "left_out": {name: entry.reason for name, entry in made.left_out.items()},
        }
        say_json({"verdict": "locked"} | details)
    else:
        say(
            f"{folder / LOCK}: {len(pins)} formulas, {counts['SAT']} SAT, {counts['UNSAT']} UNSAT, "
            f"{counts['unknown']} of unknown status"
        )
        for line in remarks_of(pins, made.left_out):
            say(f"  {line}")
        for name in changed:
            say(f"  changed: {name}")
        say(f"  next: evolake solvers bench DIR --suite {folder}, or EVOLAKE_SOLVERS__HOLDOUT_SUITE={folder}")
    return 0


@click.command(short_help="Submit the repository DIR to the next cycle.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
@click.option(
    "--parent", required=True, help="Id of the variant that it was made from, or the beginning of it."
)
@click.option("--hypothesis", required=True, help="What should improve, and why.")
@AS_JSON
def submit(folder: Path, parent: str, hypothesis: str, as_json: bool) -> int:
    """Keep the repository DIR for the next cycle, where it is built and judged as any other variant."""
    from evolake.lake import Lake
    from evolake.settings import load
    from evolake.solvers.evolution import authors

    if not folder.is_dir():
        raise InputError(
            f"there is no folder {folder}", wanted="a repository of the layout", do="check the path"
        )
    settings = load()
    row = authors.submit(
        Lake(settings.require_lake()),
        folder,
        parent,
        hypothesis,
        adapters=settings.seeds / "solvers" / "adapters",
    )
    if as_json:
        details = {name: row[name] for name in ("submission_id", "cycle", "parent_id", "tree_sha")}
        say_json({"verdict": "kept"} | details)
    else:
        say(
            f"{folder}: submitted, on {row['parent_id'][:12]}; it enters cycle {row['cycle']}",
            "  next: evolake run --lines solvers",
        )
    return 0
