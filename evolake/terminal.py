"""Print to the terminal: the one place through which every command's output goes.

Nothing else in the project prints (a test searches for it), so that no text of a candidate reaches a terminal
with characters that the terminal obeys (`evolake.visible`). JSON is escaped by its own rules, so that it is
the same value for a program that reads it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.errors import EvolakeError
from evolake.visible import in_a_cell, visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console


CALLED = "EVOLAKE_CALLED"
"""Variable, set for the processes that a command starts too: the folder of the programs of an environment
that is not active, as the user typed it."""
_COMMAND = re.compile(
    r"(?<![\w./-])(?=(?:evolake (?:agents|audit|bundle|champion|consensus|cycles|designs|doctor|families|"
    r"guide|init|lake|mcp|programs|prompts|proof|repair|report|rules|run|seeds|show|solvers|sql|status|watch)|"
    r"pip install|python benchmarks/\w+)\b)"
)


def note_call(program: str) -> None:
    """Note by which path the user started `evolake`, if its name alone starts none or another one."""
    found, called = shutil.which(Path(program).name), Path(program)
    if called.name == "evolake" and called.is_file() and not (found and called.samefile(found)):
        os.environ[CALLED] = shlex.quote(f"{called.parent}/")


def as_called(text: str) -> str:
    """Return a text with its commands as they work when they are pasted where the user is."""
    folder = os.environ.get(CALLED)
    return _COMMAND.sub(lambda _: folder, text) if folder else text


def say(*lines: object, err: bool = False) -> None:
    """Print each argument as one line. Hidden characters and ends of lines inside it are made visible. err:
    to standard error."""
    for line in lines:
        click.echo(as_called(in_a_cell(line)), err=err)


_warned: set[str] = set()


def warn(sentence: str) -> None:
    """Print a warning to standard error, once until `forget_warnings`."""
    if sentence not in _warned:
        _warned.add(sentence)
        say(f"warning: {sentence}", err=True)


def forget_warnings() -> None:
    """Let each warning be printed again: another command begins."""
    _warned.clear()


def say_text(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text of several lines, with hidden characters made visible. err: to standard error. nl: with an
    end of line."""
    click.echo(as_called(visible(text)), err=err, nl=nl)


def say_json(value: Any, *, err: bool = False, **options: Any) -> None:
    """Print a value as one line of JSON. options: of `json.dumps`."""
    click.echo(visible_json(json.dumps(value, **options)), err=err)


def say_data(text: str) -> None:
    """Print a text in a format for programs, such as CSV: on a terminal as `say`, and byte for byte to a file
    or a pipe."""
    click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def say_error(error: EvolakeError, *, prefix: str = "error: ") -> None:
    """Print an error to standard error. Further lines of a clause are indented, so that none looks like a
    separate message."""
    clauses = (
        (error.what.rstrip("."), ""),
        (error.wanted, "wanted: "),
        (error.got, "got: "),
        (error.do, "next: "),
    )
    say_text(
        prefix + "\n  ".join(name + text.replace("\n", "\n    ") for text, name in clauses if text), err=True
    )


def say_usage(error: click.ClickException) -> None:
    """Print click's message about wrong usage to standard error."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        say_text(error.ctx.get_usage(), err=True)
        if help_names := error.ctx.help_option_names:
            say(f"Try '{error.ctx.command_path} {help_names[-1]}' for help.", "", err=True)
    say(f"Error: {error.format_message()}", err=True)


def visible_console(**options: Any) -> Console:
    """Return a rich console that makes hidden characters of whatever it renders visible. options: of
    `rich.console.Console`."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Visible(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(visible(segment.text), segment.style)

    return Visible(**options)


@contextmanager
def moving_bar(title: str, *, quiet: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """Show a bar on a terminal's standard error; yield what moves it (done, of how many, text), or None if
    quiet or elsewhere."""
    console = visible_console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bars:
        bar = bars.add_task(title, total=None)
        yield lambda done, total, text: bars.update(bar, completed=done, total=total, description=text)


def exit_code_of(work: Callable[[], None]) -> int:
    """Return 0, or the exit code of what `work` raises, which is printed without a traceback."""
    try:
        work()
    except EvolakeError as error:
        say_error(error)
        return error.exit_code
    return 0


def columns_text(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    width: int,
    *,
    numbers: Collection[str] = (),
    whole: Collection[str] = (),
) -> str:
    """Return rows as aligned columns of `width` characters a line. A long cell continues below itself;
    nothing is cut.

    Args:
        numbers: heads of columns that are aligned to the right. whole: of those that are never folded;
            numbers are not, either.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0), expand=False)
    for head in heads:
        is_number = head in numbers
        table.add_column(
            head,
            justify="right" if is_number else "left",
            no_wrap=is_number or head in whole,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = visible_console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
