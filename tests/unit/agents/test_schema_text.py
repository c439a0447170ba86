"""A reply's schema as a prompt states it: the same replies fit, and nothing is there twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.listing import known_roles
from evolake.agents.schema_text import compact_schema, schema_text


class Point(BaseModel):
    """A place."""

    model_config = ConfigDict(extra="forbid")
    title: str = ""
    x: float


class Tree(BaseModel):
    """A place with places below it."""

    at: Point
    below: list[Tree] = Field(default_factory=list)


class Sketch(BaseModel):
    """A drawing."""

    model_config = ConfigDict(extra="forbid")
    first: Point = Field(description="where it begins")
    last: Point = Field(description="where it begins")
    forest: Tree | None = Field(default=None, description="where it begins")
    genome: str | None = Field(default=None, description="leave null: operators fill it")
    scale: int | None = None
    kind: str = Field(default="plain", max_length=200_000)
    notes: dict[str, Any] = Field(default_factory=dict)


def test_what_a_schema_says_twice_is_left_out_and_fields_keep_their_names_and_order() -> None:
    point = {
        "description": "A place.",
        "properties": {"title": {"default": "", "type": "string"}, "x": {"type": "number"}},
        "required": ["x"],
    }
    del point["properties"]["title"]["default"]
    tree = {
        "description": "A place with places below it.",
        "properties": {
            "at": {"$ref": "#/$defs/Point"},
            "below": {"items": {"$ref": "#/$defs/Tree"}, "type": "array"},
        },
        "required": ["at"],
        "type": "object",
    }
    assert compact_schema(Sketch.model_json_schema()) == {
        "description": "A drawing.",
        "properties": {
            "first": {"$ref": "#/$defs/Point", "description": "where it begins"},
            "last": {"$ref": "#/$defs/Point"},
            "forest": {"$ref": "#/$defs/Tree"},
            "scale": {"type": "integer"},
            "kind": {"default": "plain", "type": "string"},
            "notes": {"additionalProperties": True, "type": "object"},
        },
        "required": ["first", "last"],
        "type": "object",
        "$defs": {"Point": point | {"type": "object"}, "Tree": tree},
    }
    assert schema_text(Sketch.model_json_schema()).index('"first"') < schema_text(
        Sketch.model_json_schema()
    ).index('"kind"')


def definitions_used(node: Any) -> Iterator[str]:
    """Names that a schema refers to."""
    if isinstance(node, dict):
        yield from [node["$ref"].rpartition("/")[2]] if "$ref" in node else []
        node = list(node.values())
    for item in node if isinstance(node, list) else ():
        yield from definitions_used(item)


@pytest.mark.parametrize("name", known_roles())
def test_the_schema_of_every_role_keeps_its_fields_and_is_at_most_four_fifths_as_long(name: str) -> None:
    whole = known_roles()[name].reply.model_json_schema()
    compact = compact_schema(whole)
    for_models = [
        name
        for name, item in whole["properties"].items()
        if not item.get("description", "").startswith(("leave null", "leave empty"))
    ]
    assert list(compact["properties"]) == for_models and compact.get("required") == whole.get("required")
    assert set(compact.get("required", ())) <= set(for_models)
    assert set(definitions_used(compact)) == set(compact.get("$defs", {}))
    assert len(schema_text(whole)) <= 0.8 * len(json.dumps(whole))
