"""`evolake lake`: verify and repair what the lake holds; `duckdb` writes it as a database file for other
tools, `gc` lists unused files and removes them when asked, `push` and `pull` mirror it in an object store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, LAKE, LazyGroup, OrdinaryPath
from evolake.errors import InputError
from evolake.lazy import Lazy
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.lake.audit import Audit, Finding
    from evolake.lake.garbage import Garbage


LATER = {
    "compact": Lazy("evolake.cli.lake_compact:compact"),
    "log": Lazy("evolake.cli.lake_log:log"),
    "trace": Lazy("evolake.cli.lake_trace:trace"),
}


@click.group(cls=LazyGroup, later=LATER, short_help="Verify, mirror, compact and clean the lake.")
def lake() -> None:
    """Verify, mirror, compact and clean the lake.

    \b
    Examples:
      evolake lake verify
      evolake lake push s3://bucket/prefix
    """


@lake.command(short_help="Check the lake's integrity; --repair fixes what it can.")
@click.option(
    "--repair",
    "mends",
    is_flag=True,
    help="Repair what can be repaired with proof; print what was done. May be rerun.",
)
@click.option(
    "--fast",
    is_flag=True,
    help=(
        "Do not read bytes of parts, blobs and call cache: check logs, seals, sizes, missing and leftover "
        "files."
    ),
)
@click.option("--lake", "root", type=OrdinaryPath(), help="The lake's folder (default: EVOLAKE_LAKE).")
@click.option(
    "--mirror",
    "url",
    help="Check the newest snapshot of the mirror at this URL instead: every size, and the bytes of a sample "
    "(default: the lake).",
)
@click.option(
    "--full",
    is_flag=True,
    help="With --mirror: read the bytes of all objects, which takes as long as a pull.",
)
@AS_JSON
def verify(mends: bool, fast: bool, root: Path | None, url: str | None, full: bool, as_json: bool) -> int:
    """Check the lake's seals, manifests, parts, blobs and call cache against their checksums and against each
    other.

    With --mirror URL the lake itself is not looked at.

    Exit code 0: clean. 1: something is not as it was written. 2: there is no such lake. 3: the lake cannot be
    read.
    """
    from evolake.lake import lake_format
    from evolake.report.health import examine, mend

    if url is not None:
        if mends or fast or root:
            raise InputError(
                "--mirror checks a mirror, not a lake",
                wanted="--mirror URL alone",
                do="drop --repair, --fast and --lake",
            )
        return _verify_mirror(url, full=full, as_json=as_json)
    if full:
        raise InputError(
            "--full is for a mirror", wanted="--mirror URL --full", do="a lake is read in full without --fast"
        )
    folder = root or settings_module.named_lake()
    if mends and fast:
        raise InputError(
            "a repair reads every byte", wanted="--repair or --fast", got="both", do="drop --fast"
        )
    if folder.is_dir() or not folder.exists():  # what is no folder is refused below, by its name
        lake_format.require(folder)
    result = mend(folder) if mends else examine(folder, fast=fast)
    cannot = any(finding.kind == "machinery" for finding in result.findings)
    if as_json:
        details = {
            "verdict": result.verdict,
            "lake": str(folder),
            "findings": [finding.row() for finding in result.findings],
        }
        say_json(details | {"done": [{"where": where, "what": what} for where, what in result.done]})
    else:
        _print(result)
    if cannot:
        return 3
    if result.verdict == "findings":
        return 1
    return 0


def _verify_mirror(url: str, *, full: bool, as_json: bool) -> int:
    from evolake.lake.mirror import check, way_to_repair

    done = check(url, full=full)
    if as_json:
        say_json({"verdict": "findings" if done.damaged else "clean", "url": url, **asdict(done)})
    else:
        for item in done.damaged:
            say(f"FIND  {item.place} ({item.path}): wanted {item.wanted}, got {item.got}")
        verdict = f"{len(done.damaged)} findings; to fix: {way_to_repair(url)}" if done.damaged else "clean"
        say(
            f"snapshot {done.number} of {url}: {done.files} files in {done.objects} objects, all sizes "
            f"compared, {done.read} read: {verdict}"
        )
    return 1 if done.damaged else 0


def _print(result: Audit) -> None:
    for where, what in result.done:
        say(f"done  {what}" + (f" ({where})" if where else ""))
    for finding in result.findings:
        _print_one(finding)
    real = [finding for finding in result.findings if not finding.note]
    mendable = sum(finding.repair is not None for finding in real)
    if not real:
        say("clean: everything is as it was written")
    else:
        say(
            f"{len(real)} findings"
            + (f"; {mendable} can be repaired: evolake lake verify --repair" if mendable else "")
        )


def _print_one(finding: Finding) -> None:
    say(f"{'note ' if finding.note else 'FIND '} {finding.what}")
    say(f"      where:  {finding.where}", f"      wanted: {finding.wanted}", f"      got:    {finding.got}")
    say(f"      fix:    {'evolake lake verify --repair' if finding.repair else finding.mend}")


@lake.command(short_help="Write FILE, a DuckDB database of views over the lake.")
@click.argument("file", type=OrdinaryPath(dir_okay=False))
@LAKE
@AS_JSON
def duckdb(file: Path, root: Path | None, as_json: bool) -> None:
    """Write FILE, a DuckDB database of views over the lake, which any tool may open read-only.

    An earlier FILE of this command is replaced. It shows the cycles that are there now: write it again after
    a cycle, or after the lake was moved.
    """
    from evolake.cli.sql import all_tables
    from evolake.lake import Lake
    from evolake.lake.duckdb_file import write

    lake = Lake(root or settings_module.load().require_lake())
    views = write(lake, file, all_tables())
    if as_json:
        say_json({"verdict": "written", "file": str(file), "lake": str(lake.root), "views": views})
    else:
        say(f"{file}: {views} views over {lake.root}")


@lake.command(short_help="List unused files; remove them with --yes.")
@click.option("--yes", is_flag=True, help="Remove it. Without this nothing is removed.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed; the default.")
@click.option(
    "--older-than",
    "hours",
    type=click.FloatRange(min=0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Keep younger blobs.",
)
@LAKE
@AS_JSON
def gc(yes: bool, dry_run: bool, hours: float, root: Path | None, as_json: bool) -> None:
    """Find blobs that nothing names and what dead writers left; say what they take, and with --yes remove
    them.

    Blobs that a sealed cycle, a superseded part, the call cache or a champion names are never removed, nor
    what such a blob names. Nothing is removed while a line is running.
    """
    from evolake.lake import Lake, lake_format
    from evolake.lake.garbage import collect, find

    if yes and dry_run:
        raise InputError(
            "it is not clear whether to remove anything",
            wanted="--yes or --dry-run",
            got="both",
            do="drop one of them",
        )
    lake = Lake(root or settings_module.load().require_lake())
    lake_format.require(lake.root)
    garbage = (collect if yes else find)(lake, older_than_s=hours * 3600)
    if as_json:
        items = [asdict(item) for item in garbage.items]
        verdict = "removed" if yes else "dry run"
        sizes = {"bytes": garbage.size, "needed": garbage.needed, "young": garbage.young}
        say_json({"verdict": verdict, "lake": str(lake.root)} | sizes | {"items": items})
        return
    _print_garbage(garbage, yes, hours)


def _print_garbage(result: Garbage, yes: bool, hours: float) -> None:
    for item in result.items:
        say(f"{'removed' if yes else 'would go'}  {item.where}  {item.size} bytes: {item.why}")
    say(
        f"kept: {result.needed} blobs that something names, {result.young} that nothing names yet and "
        f"that are younger than {hours:g} h"
    )
    freed = f"{len(result.items)} files, {result.size} bytes"
    say(
        f"freed: {freed}"
        if yes
        else f"would be freed: {freed}" + ("; to remove them: evolake lake gc --yes" if result.items else "")
    )


@lake.command(short_help="Mirror the lake to a bucket or a folder.")
@click.argument("url")
@LAKE
@AS_JSON
def push(url: str, root: Path | None, as_json: bool) -> None:
    """Mirror the lake to URL: s3://BUCKET/PREFIX (credentials, region and endpoint from the AWS_* variables)
    or file:///FOLDER.

    Only what the mirror lacks is sent; a push that was interrupted continues. The private key of the lake
    goes with it. Needs `evolake[s3]`.
    """
    from evolake.lake import Lake
    from evolake.lake.mirror import push as send

    done = send(Lake(root or settings_module.load().require_lake()), url)
    if as_json:
        say_json({"verdict": "pushed", "url": url, **asdict(done)})
    else:
        say(
            f"snapshot {done.number} of {url}: {done.files} files, of which {done.sent} contents "
            f"({done.sent_bytes} bytes) were sent now"
        )


@lake.command(short_help="Replace the lake by the newest snapshot of a mirror.")
@click.argument("url")
@click.option(
    "--lake",
    "root",
    type=OrdinaryPath(file_okay=False),
    help="The lake's folder, also a new one (default: EVOLAKE_LAKE).",
)
@AS_JSON
def pull(url: str, root: Path | None, as_json: bool) -> None:
    """Make the lake what the newest snapshot of the mirror at URL says; every byte is verified.

    Nothing that was made here since the last push or pull is overwritten: it is refused. Until a pull is
    complete the lake cannot be opened; run it again.
    """
    from evolake.lake.mirror import pull as fetch

    folder = root or settings_module.load().require_lake()
    done = fetch(folder.absolute(), url)
    if as_json:
        say_json({"verdict": "pulled", "url": url, "lake": str(folder), **asdict(done)})
    else:
        text = (
            f"{done.fetched} of {done.files} files ({done.fetched_bytes} bytes) were fetched, "
            f"{done.removed} removed"
        )
        say(f"{folder} is snapshot {done.number} of {url}: {text}")
