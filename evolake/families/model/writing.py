"""A family as the folder that `loading.read_family` reads: what evolution has made, in the form in which
people write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evolake.errors import MachineryError
from evolake.families.model.contract import TEMPLATE, Family, to_record
from evolake.families.model.loading import MUTATIONS, SETTINGS, read_family
from evolake.file_names import file_name


def write_family(family: Family, folder: Path) -> None:
    """Write the family into `folder`, which must be missing.

    Raises:
        MachineryError: what was written does not read as the same family again.
    """
    for name, text in {TEMPLATE: family.template, **family.sources()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    record = to_record(family)
    own = {
        "id": file_name(family.name).replace("~", "-"),
        **{key: record[key] for key in ("title", "category", "language", "parents", "operator")},
    }
    (folder / SETTINGS).write_text(_table(own) + f"\n[answer]\n{_table(record['answer'])}", encoding="utf-8")
    declared = [(key, item) for key in ("points", "ports", "filterables") for item in record[key]]
    if declared:
        (folder / MUTATIONS).write_text(
            "\n".join(f"[[{key}]]\n{_table(item)}" for key, item in declared), encoding="utf-8"
        )
    if read_family(folder).family_id != family.family_id:
        raise MachineryError(
            f"the family {family.family_id} cannot be written as a folder",
            wanted="the same content read again",
            got="another",
        )


def _table(values: dict[str, Any]) -> str:
    """Lines of a TOML table; what is None is left out."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in values.items() if value is not None)


def _value(value: Any) -> str:
    """Return a value on one line, as TOML."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{_value(key)} = {_value(item)}" for key, item in value.items() if item is not None)
            + "}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
