"""Every list of commands fits a terminal of 80 columns, uncut, and each line starts with a verb."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from evolake.cli import cli


def groups(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that has commands of its own."""
    yield path
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from groups(command, (*path, name))


@pytest.mark.parametrize("path", list(groups()), ids=" ".join)
def test_the_commands_of_a_group_fit_80_columns(path: tuple[str, ...]):
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80, max_content_width=80)
    assert done.exit_code == 0
    listed = done.stdout.partition("\nCommands:\n")[2].splitlines()
    assert listed
    assert [line for line in listed if line.endswith("...") or len(line) > 80 or not line.rstrip().endswith(".")] == []
    first_words = [line.split()[1] for line in listed]
    assert [word for word in first_words if not word[0].isupper() or word in ("What", "Who", "Whether", "The", "A", "Where", "Does")] == []
