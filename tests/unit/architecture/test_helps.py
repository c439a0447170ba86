"""The help of every command fits a terminal of 80 columns, uncut. It starts with a verb, says what each
option is and what holds without it, and that of a group shows an example.
"""

import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from evolake.cli import cli

NO_VERBS = ("What", "Who", "Whether", "The", "A", "An", "Where", "Does", "Of", "All")


def commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the words of every command, with itself."""
    yield path, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from commands(below, (*path, name))


COMMANDS = dict(commands())
GROUPS = [path for path, command in COMMANDS.items() if isinstance(command, click.Group)]


def named(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that words name, and what follows its name."""
    path: tuple[str, ...] = ()
    while words and (*path, words[0]) in COMMANDS:
        path, words = (*path, words[0]), words[1:]
    return COMMANDS[path], words


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_help_fits_80_columns_and_starts_with_a_verb(path):
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80, max_content_width=80)
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert [line for line in lines if len(line) > 80] == []
    word = lines[2].split()[0].rstrip(",")
    assert word[0].isupper() and word.isalpha() and word not in NO_VERBS and not word.endswith("s"), lines[2]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_option_says_what_it_is_and_what_holds_without_it(path):
    with click.Context(COMMANDS[path]) as context:
        options = [
            (one, one.get_help_record(context))
            for one in COMMANDS[path].params
            if isinstance(one, click.Option) and not one.hidden
        ]
    assert [one.opts for one, _ in options if not one.help] == []
    open_ones = [
        (one, record[1])
        for one, record in options
        if record and not (one.is_flag or one.flag_value or one.required or one.multiple)
    ]
    assert [one.opts for one, text in open_ones if "default" not in text.lower()] == []


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_the_help_of_a_group_shows_a_command_of_it_that_exists(path):
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80, max_content_width=80)
    shown = [
        line.strip()
        for line in done.stdout.partition("\nOptions:")[0].splitlines()
        if line.startswith("    evolake ")
    ]
    assert shown
    for line in shown:
        words = shlex.split(line)[1:]
        assert tuple(words[: len(path)]) == path
        command, rest = named(words)
        assert not isinstance(command, click.Group), f"{line!r} names no command"
        with click.Context(command) as context:
            command.make_parser(context).parse_args(list(rest))  # raises for an option that it does not have
        assert (
            len(
                [
                    one
                    for one in command.params
                    if isinstance(one, click.Option) and one.required and not set(one.opts) & set(rest)
                ]
            )
            == 0
        )


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_the_commands_of_a_group_fit_80_columns(path):
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80, max_content_width=80)
    assert done.exit_code == 0
    listed = done.stdout.partition("\nCommands:\n")[2].splitlines()
    assert listed
    assert [
        line for line in listed if line.endswith("...") or len(line) > 80 or not line.rstrip().endswith(".")
    ] == []
    first_words = [line.split()[1] for line in listed]
    assert [word for word in first_words if not word[0].isupper() or word in NO_VERBS] == []
