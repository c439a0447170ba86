"""Write an adapter's TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

ORDER = ("name", "licences", "editable", "build_files", "tunables", "layout", "build", "run", "statistics")


def adapter_text(values: Mapping[str, Any], remarks: Sequence[str]) -> str:
    """Return the TOML of an adapter. values: fields and tables by name. remarks: comments at the top, one
    line each."""
    plain = [name for name in ORDER if name in values and not isinstance(values[name], Mapping)]
    lines = [
        *(f"# {' '.join(remark.split())}" for remark in remarks),
        *(f"{name} = {_value(values[name])}" for name in plain),
    ]
    for name in ORDER:
        if isinstance(table := values.get(name), Mapping) and table:
            lines += ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # JSON's escapes are those of TOML's basic strings; a regular expression is read more easily as a literal
    # one.
    if isinstance(value, str) and "\\" in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value)
