"""Ways of reading slot texts, and the search for those that explain a family's inputs. Runs inside the jail:
the texts are a candidate's."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from evolake.families.model.statement import QUESTION_LINE, SLOT
from evolake.program_templates import fill_template, load_template

WAYS = load_template("evolake.families.gates.templates.ways")
NAMES = ("integer", "decimal", "integers", "integers_by_line", "literal", "items", "lines", "whole")


def learn(source: str, payload: dict[str, Any]) -> str | None:
    """Return the driver. payload: {"template": with its rules, "examples": [{"inputs", "slots"}]}."""
    return reader_from(payload["template"], payload["examples"])


def reader_from(template: str, examples: Sequence[dict[str, Any]]) -> str | None:
    """Return the source of the reader that the examples allow, None where they allow none."""
    if not examples or any(not isinstance(item["inputs"], dict) for item in examples):
        return None
    ways = known_ways()
    constants: dict[str, Any] = {}
    assignments = []
    for key in sorted({key for item in examples for key in item["inputs"]}):
        if any(key not in item["inputs"] for item in examples):
            return None
        values = [item["inputs"][key] for item in examples]
        if result := _explained(values, examples, ways):
            slot, way = result
            assignments.append(f"    inputs[{key!r}] = {way}(match[{f'slot{slot}'!r}])\n")
        elif all(value == values[0] for value in values):
            constants[key] = values[0]
        else:
            return None
    if not assignments:
        return None
    return fill_template(
        "evolake.families.gates.templates.reader",
        pattern=repr(pattern(template)),
        ways=f"{WAYS}\n",
        constants=repr(json.dumps(constants)),
        assignments="".join(assignments),
    )


def pattern(template: str) -> str:
    """Return the expression that a filled template matches, with a group slot<n> for each slot; a slot that
    occurs again must say the same."""
    parts = [part.strip("\n") for part in QUESTION_LINE.split(template)]
    flat = "\n\n".join(part for part in parts if part).strip()
    result, at, seen = [], 0, set()
    for match in SLOT.finditer(flat):
        result.append(re.escape(flat[at : match.start()]))
        result.append(f"(?P=slot{match[1]})" if match[1] in seen else f"(?P<slot{match[1]}>.*?)")
        seen.add(match[1])
        at = match.end()
    return "".join([*result, re.escape(flat[at:])])


def known_ways() -> dict[str, Callable[[str], Any]]:
    """Return name -> function: the same source that goes into a reader."""
    space: dict[str, Any] = {"re": re, "ast": ast, "json": json}
    exec(WAYS, space)
    return {name: space[name] for name in NAMES}


def _explained(
    values: Sequence[Any], examples: Sequence[dict[str, Any]], ways: dict[str, Callable[[str], Any]]
) -> tuple[int, str] | None:
    """(slot, way) that gives the value in every example."""
    for slot in range(1, min(len(item["slots"]) for item in examples) + 1):
        for name, way in ways.items():
            if all(
                _gives(way, item["slots"][slot - 1], value)
                for item, value in zip(examples, values, strict=True)
            ):
                return slot, name
    return None


def _gives(way: Callable[[str], Any], text: str, value: Any) -> bool:
    """Return whether reading the text so gives the value, of the same type."""
    try:
        result = way(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return result == value and type(result) is type(value)
