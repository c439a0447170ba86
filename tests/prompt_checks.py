"""What is wrong with a prompt as a model is sent it: a text that it is told twice, a schema that is there
twice, rows that say nothing."""

import json
import re
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from evolake.agents.prompts import schema_text

LONGEST_TWICE = 200
"""Characters that a prompt may say twice in a row."""
_NOTHING = re.compile(r"(?:0(?:\.0+)?|null|none|nan|-|\[\]|\{\}|)", re.IGNORECASE)


def faults_of_prompt(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None) -> list[str]:
    """Sentences about the first two messages of a call. schema: of the reply; None for a session, whose tools
    have their own."""
    text = "\n\n".join(message["content"] for message in messages[:2])
    found = [f"said twice: {part[:100]!r} ({len(part)} characters)" for part in said_twice(text)]
    if schema is not None:
        times = text.count(schema_text(schema)) + text.count(json.dumps(schema))
        found += [f"the schema stands there {times} times"] if times != 1 else []
    return found + [f"a row of nothing: {line!r}" for line in rows_of_nothing(text)]


def said_twice(text: str, least: int = LONGEST_TWICE) -> list[str]:
    """Passages of at least `least` characters that a text has a second time, white space aside, the longest
    of each place."""
    plain = " ".join(text.split())
    first_places: dict[str, int] = {}
    found, place = [], 0
    while place + least <= len(plain):
        before = first_places.setdefault(plain[place : place + least], place)
        if before == place or before + least > place:
            place += 1
            continue
        end = least
        while place + end < len(plain) and plain[before + end] == plain[place + end] and before + end < place:
            end += 1
        found.append(plain[place : place + end])
        place += end
    return found


def rows_of_nothing(text: str) -> list[str]:
    """Lines of a table whose cells but the first are all zeros or nulls, where another line of it has a
    value; at least three cells."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 3 and all(_NOTHING.fullmatch(cell) for cell in cells[1:]):
            found.append(line)
    return found


def marked(annotation: Any, mark: str) -> Any:
    """A value of a type, in which every text has the mark."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return marked(arguments[0], mark)
    if origin in (Union, UnionType):
        return marked(next(part for part in arguments if part is not type(None)), mark)
    if origin is Literal:
        return arguments[0]
    if origin in (list, tuple):
        return [marked(arguments[0], mark)]
    if origin is dict:
        return {mark: marked(arguments[1], mark)}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return marked_request(annotation, mark)
    return {str: f"{mark} of text", int: 7, float: 0.5, bool: True}.get(annotation, mark)


def marked_request(model: type[BaseModel], mark: str = "") -> BaseModel:
    """A request, or a part of one, whose fields have marks: their names, or the mark of the part."""
    return model.model_construct(
        **{
            name: marked(field.annotation, mark or mark_of(name))
            for name, field in model.model_fields.items()
        }
    )


def mark_of(field: str) -> str:
    """What a field's texts hold and no prompt says by itself."""
    return f"mark-{field}-"
