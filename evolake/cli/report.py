"""`evolake report`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import LAKE, OrdinaryPath
from evolake.errors import InputError
from evolake.file_names import file_name
from evolake.reading import whole_number
from evolake.terminal import as_called, say


@click.command(short_help="Write the HTML report of all lines.")
@click.option("--cycle", help="The cycle, e.g. 3 or 0003 (default: the newest finished one of each line).")
@click.option(
    "--lines",
    default="all",
    show_default=True,
    help="Comma-separated lines, or all that have finished the cycle.",
)
@click.option(
    "--out",
    type=OrdinaryPath(dir_okay=False),
    help="The HTML file to write (default with --open: a temporary one).",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser, if there is one.")
@click.option(
    "--figures",
    type=OrdinaryPath(file_okay=False),
    help="Also write the figures as PNG files into this folder (default: no).",
)
@LAKE
def report(
    cycle: str | None, lines: str, out: Path | None, show: bool, figures: Path | None, root: Path | None
) -> int:
    """Write the HTML report: first what was gained, then a table of all lines, then a section per line with
    its figures and, folded, every detail."""
    from evolake.lake import Lake
    from evolake.report.gained import gains
    from evolake.report.lines import chosen_cycles, read_findings, read_stories, section_of
    from evolake.report.pages import page, plain

    if cycle is not None and whole_number(cycle, digits=100) is None:
        raise InputError("a cycle is a number", wanted="e.g. 3 or 0003", got=repr(cycle))
    wanted = [] if lines == "all" else [name.strip() for name in lines.split(",") if name.strip()]
    if lines != "all" and not wanted:
        raise InputError("no line is named", wanted="--lines designs,solvers or --lines all", got=repr(lines))
    if out is None and not show:
        raise InputError(
            "nothing is to be done with the report",
            wanted="--out FILE, --open, or both",
            do="evolake report --open",
        )
    root = root or settings_module.load().require_lake()
    chosen = chosen_cycles(root, wanted, f"{int(cycle):04d}" if cycle else None)
    sections = [section_of(root, line, done) for line, done in chosen.items()]
    out = out or Path(tempfile.mkdtemp(prefix="evolake-")) / "report.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    gained = gains(Lake(root), wanted, shown=True) if cycle is None else []
    findings = {} if wanted else read_findings(root)
    out.write_text(as_called(page(sections, read_stories(root, chosen), findings, gains=gained)))
    only = len(sections) == 1
    say(
        "report of "
        f"{f'cycle {sections[0].cycle}' if only else ', '.join(f'{item.line} cycle {item.cycle}' for item in sections)}: "  # noqa: E501
        f"{out}"
    )
    if figures:
        figures.mkdir(parents=True, exist_ok=True)
        for section in sections:
            for title, png in section.figures.items():
                name = title.lower().replace(" ", "_")
                (figures / file_name(name if only else f"{section.line}_{name}", ".png")).write_bytes(png)
        say(f"figures: {figures}")
    for section in sections:
        say(plain(section.headline) if only else f"{section.line}: {plain(section.headline)}")
    if show and (why := _open(out.resolve())):
        say(f"not opened: {why}; copy {out.resolve()} to a machine with a browser, or open it there")
    return 0


def _open(page: Path) -> str:
    """Show a page in the user's browser; return why it is not shown, or ""."""
    import webbrowser

    named = [os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")]
    if sys.platform.startswith("linux") and not any(named):
        return "there is no display"
    try:
        return "" if webbrowser.open(page.as_uri()) else "no browser was found"
    except (webbrowser.Error, OSError) as error:
        return f"the browser did not start ({error})"
