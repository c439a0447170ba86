"""Tables of worlds: themes, kinds of constraints, laws, actions, rules and questions with their meanings in the
terms of the engines, in TOML files next to this module. The class of an entry says what its keys mean.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from evolake.errors import MachineryError
from evolake.reading.toml_text import parse_toml

Kind = TypeVar("Kind")


def tables_in(file: str) -> dict[str, Any]:
    """Return what the file of this name, without its suffix, holds. Raises Unparsable for no TOML."""
    path = Path(__file__).with_name(f"{file}.toml")
    return parse_toml(path.read_bytes(), name=path.name)


def entries(
    file: str, kind: type[Kind], *tables: str, indented: Sequence[str] = ()
) -> Mapping[str, tuple[Kind, ...]]:
    """Return table -> its entries.

    Args:
        file: the name of the file, without its suffix.
        kind: the class of an entry, whose attributes are the keys.
        tables: the tables that the file has to have, and no others.
        indented: keys whose texts are lines of a function's body.

    Raises:
        MachineryError: a table or a key that is missing or unknown.
        Unparsable: it is no TOML.
    """
    given = tables_in(file)
    if set(given) != set(tables):
        raise MachineryError(
            f"{file}.toml cannot be used", wanted=f"tables {', '.join(tables)}", got=", ".join(given)
        )
    return {table: tuple(_entry(entry, kind, file, indented) for entry in given[table]) for table in tables}


def _entry(entry: Mapping[str, object], kind: type[Kind], file: str, indented: Sequence[str]) -> Kind:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    values |= {key: textwrap.indent(str(values[key]), "    ") for key in indented if key in values}
    try:
        return kind(**values)
    except TypeError as error:  # a key that is missing or unknown
        raise MachineryError(
            f"{file}.toml cannot be used", got=f"entry {entry.get('name')!r}: {error}", do="correct the entry"
        ) from None
