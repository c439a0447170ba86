"""Programs that are written out by filling in a template: a Python file that linters read, of which
everything below a marker is the text.

Above the marker are a docstring and the names that the text takes from elsewhere. Names in double underscores
are filled in. One that is alone on its line is replaced together with its indentation and the end of the
line, by any number of whole lines.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

MARKER = "# --- program ---\n"
PLACE = re.compile(r"^ *__([a-z]+(?:_[a-z]+)*)__\n|__([a-z]+(?:_[a-z]+)*)__", re.MULTILINE)
"""A name that is filled in, first where it is a whole line."""


@cache
def load_template(name: str) -> str:
    """Return the text below the marker of a template, called like the module that its file could be
    (`evolake.families.roles.templates.blind`).

    `evolake.families.evolution.shipped_seeds` counts the templates that are named where this or
    `fill_template` is called.

    Raises:
        ModuleNotFoundError: there is no such file.
        ValueError: it has no marker.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no template {name}", name=name)
    _, marker, text = Path(spec.origin).read_text(encoding="utf-8").partition(MARKER)
    if not marker:
        raise ValueError(f"the template {name} has no line {MARKER.strip()!r}")
    return text


def fill_template(name: str, /, **values: object) -> str:
    """Return the text of a template with its places filled in. Raises KeyError for a place without a
    value."""
    return fill_places(load_template(name), **values)


def fill_places(text: str, /, **values: object) -> str:
    """Return a text with its places filled in. Raises KeyError for a place without a value."""
    return PLACE.sub(lambda match: str(values[match[1] or match[2]]), text)
