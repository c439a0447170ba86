"""Reference of commands: what `--help` says of each, those of every installed line included."""

from __future__ import annotations

from collections.abc import Iterator

import click
from cells import code, table

from evolake.cli import cli

HEAD = """# Commands

Exit codes: 0 success, 1 the thing judged is judged bad, 2 wrong usage or input, 3 the machinery failed. Every `--json` prints one object with a
`verdict`.
"""  # noqa: E501


def commands_page() -> str:
    """Return the page, one section a command."""
    return HEAD + "".join(section(context) for context in commands(click.Context(cli, info_name="evolake")))


def commands(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of all commands below one, by name; of a group its commands only."""
    command = context.command
    if not isinstance(command, click.Group):
        yield context
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None and not below.hidden:
            yield from commands(click.Context(below, info_name=name, parent=context))


def section(context: click.Context) -> str:
    """Return what one command takes and does."""
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    options = [
        record
        for parameter in command.get_params(context)
        if (record := parameter.get_help_record(context)) and record[0] != "-h, --help"
    ]
    listed = (
        "\n" + table(["option", "meaning"], ([code(name), summary] for name, summary in options))
        if options
        else ""
    )
    return f"\n## {context.command_path}\n\n{paragraphs(command.help or '')}\n\n    {usage}\n{listed}"


def paragraphs(summary: str) -> str:
    """Return a help text with its line breaks taken out of paragraphs."""
    return "\n\n".join(" ".join(part.replace("\b", "").split()) for part in summary.split("\n\n"))
