"""`evolake report`."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.file_names import file_name


@click.command()
@click.option("--cycle", help="The cycle, e.g. 3 or 0003 (default: the newest finished one of each line).")
@click.option("--lines", default="all", show_default=True, help="Comma-separated lines, or all that have finished the cycle.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The HTML file to write.")
@click.option("--figures", type=click.Path(file_okay=False, path_type=Path), help="Also write the figures as PNG files into this folder.")
def report(cycle: str | None, lines: str, out: Path, figures: Path | None) -> int:
    """Write the HTML report of a cycle, one section per line: champion, gain with its spread, figures, funnel, ancestry."""
    from evolake.report.lines import read_sections
    from evolake.report.pages import page, plain

    if cycle is not None and not cycle.isdigit():
        raise InputError("a cycle is a number", wanted="e.g. 3 or 0003", got=repr(cycle))
    wanted = [] if lines == "all" else [name.strip() for name in lines.split(",") if name.strip()]
    if lines != "all" and not wanted:
        raise InputError("no line is named", wanted="--lines designs,solvers or --lines all", got=repr(lines))
    sections = read_sections(settings_module.load().lake, wanted, f"{int(cycle):04d}" if cycle else None)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(sections))
    only = len(sections) == 1
    click.echo(f"report of {f'cycle {sections[0].cycle}' if only else ', '.join(f'{one.line} cycle {one.cycle}' for one in sections)}: {out}")
    if figures:
        figures.mkdir(parents=True, exist_ok=True)
        for one in sections:
            for title, png in one.figures.items():
                name = title.lower().replace(" ", "_")
                (figures / file_name(name if only else f"{one.line}_{name}", ".png")).write_bytes(png)
        click.echo(f"figures: {figures}")
    for one in sections:
        click.echo(plain(one.headline) if only else f"{one.line}: {plain(one.headline)}")
    return 0
