"""Groups of commands that import a command's file only when that command is typed: `evolake --help` stays quick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from evolake.lines import resolve


class LazyGroup(click.Group):
    """A group with commands that are named as "package.module:object" beside those that are there."""

    def __init__(self, *args: Any, later: Mapping[str, str] | None = None, **options: Any):
        """later: name of a command -> the name of its object."""
        super().__init__(*args, **options)
        self._later = dict(later or {})

    def later(self) -> Mapping[str, str]:
        """The commands that are imported when typed."""
        return self._later

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self.later()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.later():
            return resolve(self.later()[cmd_name])
        return super().get_command(ctx, cmd_name)
