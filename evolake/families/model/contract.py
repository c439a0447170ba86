"""What a family is: texts that make, state and solve an endless run of instances, and the declarations that
let operators change them.

    generator.py     def input(difficulty) -> (inputs, slot_texts)      difficulty: integer 1..10; inputs: JSON; slot_texts: list of strings
    template.md      the statement, with [Input Slot 1].. where slot_texts go and [Rule name] where a mutation
                     point's text goes
    validator.py     def solution(inputs) -> answer                     the primary: a pure function, one correct answer
    validators/*.py  def solution(inputs) -> answer                     independent ones: other algorithms, not copies
    checkers/*.py    def check(inputs, answer) -> bool                  where many answers are correct: checkers judge, solutions find one
    reader.py        def read(text) -> inputs                           from the whole statement back to the hidden inputs
    mutations.toml   points (rules with alternatives), ports (integers that may be set from outside),
                     sequences (lists that may be filtered)

An instance is a function of (family, difficulty, seed): `random` (and numpy) are seeded before `input`.
`family_id` is the sha256 of the content; name, title, category and ancestry are not part of it.

How operators compose families (evolake.families.model.source_code has the tools):

1. A source is a module with one entry. `factory("part_a", source, "solution")` wraps the whole module into a
   function that returns the entry, so two parents can use the same module-level names. `compose([factory,
   ...], glue)` puts factories before a few lines of glue, which is all an operator writes: `solve_a =
   part_a()` and a `solution` that calls it. It works on syntax trees (strings stay intact), and nests to any
   depth. What cannot move into a function (`global`, `import *`) is refused with NotComposable.
2. Each validator of the child is glue over one validator of each parent: the independent ones are paired by
   order, and never a primary with an independent one. A wrong validator of a parent stays outvoted in the
   child, so consensus keeps its meaning.
3. Inputs of a child are {"a": inputs of A, "b": inputs of B} (or {"items": [...]}): the parents' readers and
   validators see their own form unchanged.
4. The child's template holds each parent's whole statement between marker lines that occur nowhere else
   (`fresh_marker`), with slots renumbered (`shift_slots`) and rules prefixed (`prefix_rules`). The child's
   reader cuts the sections at the markers and hands each to that parent's reader.
5. A *port* is an integer of the inputs whose slot text is just that number. Pipe puts "(see below)" words
   there and glue sets `inputs[key]` to `low + answer mod (high - low + 1)`; the child's reader first puts a
   legal number back into the section. Invert asks for the smallest port value with some property.
6. A *mutation point* is a module-level assignment `NAME = <expression>` that is in every source that needs
   it, and `[Rule name]` in the template. Switching replaces the expression in all sources and the sentence in
   the text together (`switch`). Blind reviewers read the rule from the text, never from the sources: what is
   in no `[Rule ...]` is not known to them.
7. A *sequence* names a list of the inputs whose elements may be filtered by a number, with parallel lists
   that are cut alongside.
8. The template's line `<!-- question -->` divides setting from question (it is not shown), so that invert and
   aggregate can ask something else.
"""  # noqa: E501

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

Category = Literal[
    "logical", "spatial", "symbolic", "temporal", "relational", "commonsense", "causal", "other"
]
CATEGORIES: tuple[str, ...] = get_args(Category)
AnswerType = Literal["integer", "number", "boolean", "string", "list", "mapping", "any"]
ANSWER_TYPES: tuple[str, ...] = get_args(AnswerType)
LANGUAGES = ("en", "zh")
DIFFICULTIES = range(1, 11)

GENERATOR, TEMPLATE, VALIDATOR, READER = "generator.py", "template.md", "validator.py", "reader.py"
VALIDATORS = "validators"
CHECKERS = "checkers"
MAX_SOURCE_BYTES = 200_000
MAX_VALIDATORS = 16
MAX_LABEL = 200
"""Characters of a title, a name, an operator's name."""


@dataclass(frozen=True)
class Alternative:
    """One wording of a rule. `code` is the Python expression for it; `codes` has another one for single
    sources (by file name)."""

    name: str
    text: str
    code: str
    codes: Mapping[str, str] = field(default_factory=dict)

    def expression(self, source_name: str) -> str:
        """Return the expression that stands for this alternative in that source."""
        return self.codes.get(source_name, self.code)


@dataclass(frozen=True)
class MutationPoint:
    """A rule slot: `[Rule name]` in the template and `NAME = <expression>` in the sources that need it;
    `chosen` names the alternative in force."""

    name: str
    alternatives: tuple[Alternative, ...]
    chosen: str

    @property
    def constant(self) -> str:
        """The name that sources assign."""
        return self.name.upper()

    def alternative(self, name: str | None = None) -> Alternative:
        """Return the alternative called `name`, or the chosen one. Raises KeyError for an unknown name."""
        wanted = name or self.chosen
        for item in self.alternatives:
            if item.name == wanted:
                return item
        raise KeyError(wanted)


@dataclass(frozen=True)
class Port:
    """An integer of the inputs that may be set from outside, and is alone the text of slot number `slot`.

    key: path into the inputs. high: an integer, or the path of an integer or of a list (its length) in the
    inputs. Every value low..high is legal.
    """

    name: str
    key: tuple[str, ...]
    slot: int
    low: int
    high: int | tuple[str, ...]


@dataclass(frozen=True)
class Filterable:
    """A list of the inputs whose elements may be dropped by a condition on a number, as long as `min_length`
    are left.

    key: path of the list. noun: what its elements are called in the text, plural. quantity: what the number
    is called ("duration"). field: index or key of the number in each element, None where elements are
    numbers. together: paths of parallel lists that lose the same elements.
    """

    name: str
    key: tuple[str, ...]
    noun: str
    quantity: str
    field: str | int | None = None
    min_length: int = 1
    together: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Answer:
    """What `solution` returns; decides how replies are read and compared."""

    type: AnswerType = "any"
    case_sensitive: bool = True


@dataclass(frozen=True)
class Family:
    """One family. `name` is for people and unique among seeds; `parents` are family_ids; `operator` is how it
    came to be ("seed" for a seed).

    validators: name -> source of the independent ones, e.g. {"brute": "..."}; stored as validators/brute.py.
    checkers: name -> source of those that judge answers. With them a question has many correct answers:
    primary and independent validators are solvers, each of which finds one, and the label is the primary's.
    """

    name: str
    title: str
    category: str
    language: str
    generator: str
    template: str
    validator: str
    validators: Mapping[str, str] = field(default_factory=dict)
    reader: str | None = None
    answer: Answer = Answer()
    points: tuple[MutationPoint, ...] = ()
    ports: tuple[Port, ...] = ()
    filterables: tuple[Filterable, ...] = ()
    parents: tuple[str, ...] = ()
    operator: str = "seed"
    checkers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "validators", MappingProxyType(dict(sorted(self.validators.items()))))
        object.__setattr__(self, "checkers", MappingProxyType(dict(sorted(self.checkers.items()))))

    def __reduce__(self):
        return (from_record, (to_record(self),))

    @property
    def family_id(self) -> str:
        """64 hex digits over the content."""
        record = to_record(self)
        content = {
            key: record[key]
            for key in sorted(set(record) - {"name", "title", "category", "parents", "operator"})
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def sources(self) -> dict[str, str]:
        """Return file name -> Python source, the template not among them."""
        result = {GENERATOR: self.generator, VALIDATOR: self.validator}
        result |= {f"{VALIDATORS}/{name}.py": source for name, source in self.validators.items()}
        result |= {f"{CHECKERS}/{name}.py": source for name, source in self.checkers.items()}
        return result | ({READER: self.reader} if self.reader is not None else {})

    def voters(self) -> dict[str, str]:
        """Return name -> source of everything that votes on a label, the primary first: the solvers, or the
        primary and the checkers."""
        return {"primary": self.validator, **(self.checkers or self.validators)}

    def solvers(self) -> dict[str, str]:
        """Return name -> source of everything that defines `solution`, the primary first."""
        return {"primary": self.validator, **self.validators}


def to_record(family: Family) -> dict[str, Any]:
    """Return the family as plain JSON, every field of it; `from_record` reads it. Without checkers there is
    no such key."""
    record: dict[str, Any] = {
        "name": family.name,
        "title": family.title,
        "category": family.category,
        "language": family.language,
        "generator": family.generator,
        "template": family.template,
        "validator": family.validator,
        "validators": dict(family.validators),
        "reader": family.reader,
        "answer": {"type": family.answer.type, "case_sensitive": family.answer.case_sensitive},
        "points": [
            {
                "name": point.name,
                "chosen": point.chosen,
                "alternatives": [
                    {"name": item.name, "text": item.text, "code": item.code, "codes": dict(item.codes)}
                    for item in point.alternatives
                ],
            }
            for point in family.points
        ],
        "ports": [
            {
                "name": port.name,
                "key": list(port.key),
                "slot": port.slot,
                "low": port.low,
                "high": _plain(port.high),
            }
            for port in family.ports
        ],
        "filterables": [
            {
                "name": item.name,
                "key": list(item.key),
                "noun": item.noun,
                "quantity": item.quantity,
                "field": item.field,
                "min_length": item.min_length,
                "together": [list(path) for path in item.together],
            }
            for item in family.filterables
        ],
        "parents": list(family.parents),
        "operator": family.operator,
    }
    return record | ({"checkers": dict(family.checkers)} if family.checkers else {})


def from_record(record: Mapping[str, Any]) -> Family:
    """Return a family from `to_record`'s form. Raises KeyError or TypeError for another form;
    `evolake.families.model.family_files` reads what people write.
    """
    plain = {
        key: record[key]
        for key in (
            "name",
            "title",
            "category",
            "language",
            "generator",
            "template",
            "validator",
            "reader",
            "operator",
        )
    }
    return Family(
        **plain,
        validators=record["validators"],
        checkers=record.get("checkers", {}),
        answer=Answer(**record["answer"]),
        parents=tuple(record["parents"]),
        points=tuple(
            MutationPoint(
                point["name"], tuple(Alternative(**item) for item in point["alternatives"]), point["chosen"]
            )
            for point in record["points"]
        ),
        ports=tuple(
            Port(port["name"], tuple(port["key"]), port["slot"], port["low"], _tuple(port["high"]))
            for port in record["ports"]
        ),
        filterables=tuple(
            Filterable(
                **{
                    **item,
                    "key": tuple(item["key"]),
                    "together": tuple(tuple(path) for path in item["together"]),
                }
            )
            for item in record["filterables"]
        ),
    )


def _plain(high: int | tuple[str, ...]) -> Any:
    return high if isinstance(high, int) else list(high)


def _tuple(high: Any) -> Any:
    return high if isinstance(high, int) else tuple(high)


def as_json(value: Any) -> str:
    """Return one line of JSON, keys sorted."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
