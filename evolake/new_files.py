"""Complete examples, written where nothing is yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evolake.errors import InputError


def write_new(files: Mapping[Path, str]) -> None:
    """Writes each text to its path; nothing is ever overwritten.

    Raises:
        InputError: one of the paths is taken, or cannot be written; a file that is there is left as it is.
    """
    if taken := [path for path in files if path.exists()]:
        raise InputError(f"{taken[0]} is there already", wanted="a path where nothing is", do="choose another one: nothing is overwritten")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise InputError(f"{path} cannot be written", got=error.strerror or str(error), do="choose a place that you can write to") from None
