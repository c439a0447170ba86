"""A reply's JSON Schema as a prompt states it: what a model needs to write the reply, and no more.

The schema that pydantic makes repeats each name as a title and states what "not required" says already. What
is left out here changes nothing that a reply may be: titles, defaults that are empty, the `null` of a field
that may be left out, limits that no reply comes near, descriptions that the same schema has already, and
definitions that are used once, which are put where they are used. That an object has no further keys is one
sentence of the prompt instead of an entry for each object. Fields that only operators fill, whose description
begins with `leave null` or `leave empty`, are left out as a whole.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

LEAST_LIMIT_LEFT_OUT = 50_000
"""A `maxLength` from here on is left out: a reply has a limit of tokens, which is lower."""
_DEFINITION = "#/$defs/"
_OPERATORS_FIELDS = ("leave null", "leave empty")
"""How the description of a field begins that a model does not fill."""
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return a schema as compact JSON, its properties in the order of the model's fields."""
    return json.dumps(compact_schema(schema), ensure_ascii=False, separators=(",", ":"))


def compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of the same replies without what the module's text names."""
    return _Compacting(schema).whole()


class _Compacting:
    def __init__(self, schema: Mapping[str, Any]):
        self._definitions: Mapping[str, Any] = schema.get("$defs", {})
        self._root = {key: value for key, value in schema.items() if key != "$defs"}
        self._uses = Counter(_references(schema))
        self._described: set[str] = set()

    def whole(self) -> dict[str, Any]:
        """Return the schema, with the definitions that are used more than once."""
        root = self._node(self._root)
        kept = {name: self._node(node) for name, node in self._definitions.items() if self._shared(name)}
        return root | ({"$defs": kept} if kept else {})

    def _shared(self, name: str) -> bool:
        return self._uses[name] > 1 or self._recursive(name)

    def _recursive(self, name: str) -> bool:
        seen, open_names = set[str](), [name]
        while open_names:
            for found in _references(self._definitions.get(open_names.pop(), {})):
                if found == name:
                    return True
                if found not in seen:
                    seen.add(found)
                    open_names.append(found)
        return False

    def _node(self, node: Any) -> Any:
        if not isinstance(node, Mapping):
            return node
        node = _without_null(node)
        name = str(node.get("$ref", "")).removeprefix(_DEFINITION)
        if name in self._definitions and not self._shared(name):
            node = {**self._definitions[name], **{key: value for key, value in node.items() if key != "$ref"}}
        return {key: self._value(key, value) for key, value in node.items() if self._wanted(key, value)}

    def _wanted(self, key: str, value: Any) -> bool:
        if key == "description":
            repeated = value in self._described
            self._described.add(value)
            return not repeated
        return not (
            key == "title"
            or (key == "default" and value in _EMPTY)
            or (key == "additionalProperties" and value is False)
            or (key == "maxLength" and value >= LEAST_LIMIT_LEFT_OUT)
        )

    def _value(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self._node(item) for name, item in value.items() if not _left_to_operators(item)}
        if key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            return [self._node(item) for item in value]
        return self._node(value) if key in ("items", "additionalProperties") else value


def _left_to_operators(item: Any) -> bool:
    """Return whether a property is one that a model does not fill."""
    return isinstance(item, Mapping) and str(item.get("description", "")).startswith(_OPERATORS_FIELDS)


def _without_null(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a field that may be left out, without the `null` that says so a second time."""
    if "default" not in node or node["default"] is not None or "anyOf" not in node:
        return node
    left = [item for item in node["anyOf"] if item != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**left[0], **rest} if len(left) == 1 else {**rest, "anyOf": left}


def _references(node: Any) -> Iterator[str]:
    """Names of the definitions that a schema refers to, each as often as it does."""
    if isinstance(node, Mapping):
        if isinstance(name := node.get("$ref"), str):
            yield name.removeprefix(_DEFINITION)
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)
