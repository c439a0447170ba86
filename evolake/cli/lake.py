"""`evolake lake`: what the lake holds, held against what was written."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import LazyGroup, OrdinaryPath
from evolake.lazy import Lazy
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.lake.audit import Audit, Finding


LATER = {
    "push": Lazy("evolake.cli.lake_mirror:push"),
    "pull": Lazy("evolake.cli.lake_mirror:pull"),
    "gc": Lazy("evolake.cli.lake_gc:gc"),
    "duckdb": Lazy("evolake.cli.lake_duckdb:duckdb"),
    "compact": Lazy("evolake.cli.lake_compact:compact"),
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
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def verify(mends: bool, fast: bool, root: Path | None, url: str | None, full: bool, as_json: bool) -> int:
    """Check the lake's seals, manifests, parts, blobs and call cache against their checksums and against each
    other.

    With --mirror URL the lake itself is not looked at.

    Exit code 0: clean. 1: something is not as it was written. 2: there is no such lake. 3: the lake cannot be
    read.
    """
    from evolake.errors import InputError
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
    folder = root or settings_module.load().require_lake()
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
    from evolake.lake.mirror import check
    from evolake.lake.mirror.check import way_to_repair

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
