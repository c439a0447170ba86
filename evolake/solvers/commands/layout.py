"""`evolake solvers layout`: a repository of the layout from a solver's upstream tree.

Exit codes: 0 written, 2 for a tree that the adapter does not fit, an adapter that is not there, or a folder
that is not empty.
"""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say, say_json


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
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def layout(source: Path, adapter_name: str | None, base: str, out: Path, as_json: bool) -> int:
    """Make a repository of the layout from an upstream tree: its sources with the adapter's patch, both
    scripts, the documents.

    ARCHIVE_OR_DIR is a folder, or a tar or zip archive of one.
    """
    from evolake.file_names import check_id
    from evolake.scratch import Scratch
    from evolake.solvers.adapting.upstream import open_upstream
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
