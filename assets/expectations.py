"""Great Expectations made of predicates in SQL: one predicate, written once, is what a query for offenders
asks and what a suite expects.

A predicate is true of every row that is as it should be; null is an offence. What it may be:

    count(*) OVER (PARTITION BY a, b) = 1      ExpectCompoundColumnsToBeUnique
    count(*) OVER (PARTITION BY a) = 1         ExpectColumnValuesToBeUnique, which leaves nulls out: `once`
                                               adds that there are none
    a IS NOT NULL, a IS NULL                   ExpectColumnValuesToNotBeNull, ...ToBeNull
    a BETWEEN 1 AND 10, a >= 1, a < 2          ExpectColumnValuesToBeBetween
    a IN ('x', 'y'), a = 'x', a                ExpectColumnValuesToBeInSet (a alone: true)
    a <> 'x', a NOT IN (...)                   ExpectColumnValuesToNotBeInSet
    a = b                                      ExpectColumnPairValuesToBeEqual
    a <= b, a BETWEEN low AND high             ExpectColumnPairValuesAToBeGreaterThanB
    ... AND ...                                each of them
    NOT wins OR ..., a IS NULL OR ...          the last one, of the rows that meet none of the others

An operand is a column or a term (`2 * votes`). A term is a column of the frame under its own text: the
query computes it and Great Expectations compares it. Values of one column are expected not to be null in
addition, for Great Expectations leaves nulls out.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (Great Expectations leaves its generic types open.)
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation

UNIQUE = re.compile(r"count\(\*\) OVER \(PARTITION BY (.+)\) = 1")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
NAME = re.compile(r'\w+|"\w+"')
FORMS = tuple(
    (re.compile(form), kind)
    for form, kind in (
        (r"(.+) IS NOT NULL", "not null"),
        (r"(.+) IS NULL", "null"),
        (r"(.+) IS NOT TRUE", "not true"),
        (r"(.+) IS DISTINCT FROM (.+)", "distinct"),
        (r"(.+) NOT IN (.+)", "not in"),
        (r"(.+) IN (.+)", "in"),
        (r"(.+) BETWEEN (.+) AND (.+)", "between"),
        (r"(.+) (<=|>=|<>) (.+)", ""),
        (r"(.+) (=|<|>) (.+)", ""),
        (r"NOT (.+)", "not"),
    )
)
"""A comparison, its quotes and brackets blanked -> what it is; "": what its operator says."""


@dataclass(frozen=True)
class Wanted:
    """One expectation as data.

    kind: name of its class. arguments: as the class takes them; a column is the text of an operand. when:
    comparisons, (column, kind, value), that its rows meet. predicate: what it was read from.
    """

    kind: str
    arguments: Mapping[str, Any]
    when: tuple[tuple[str, str, Any], ...]
    predicate: str

    @property
    def columns(self) -> list[str]:
        """The operands that its frame must have."""
        given = [self.arguments.get(name) for name in ("column", "column_A", "column_B")]
        listed = self.arguments.get("column_list", ())
        return [*(name for name in given if name), *listed, *(column for column, _, _ in self.when)]

    def make(self, gxe: ModuleType) -> Expectation:
        """Return the expectation. gxe: `great_expectations.expectations`."""
        arguments = {
            name: _named(value) if name in COLUMNS else value for name, value in self.arguments.items()
        }
        given: dict[str, Any] = {**arguments, "meta": {"predicate": self.predicate}}
        if self.when:
            given["row_condition"] = _condition(self.when)
        return getattr(gxe, self.kind)(**given)


COLUMNS = ("column", "column_A", "column_B", "column_list")


def read(predicate: str) -> list[Wanted]:
    """Return what a predicate expects.

    Raises:
        ValueError: it has none of the forms above.
    """
    *others, last = _split(_bare(predicate), " OR ")
    when = tuple(_negated(text, predicate) for text in others)
    return [wanted for part in _clauses(_bare(last)) for wanted in _comparison(_bare(part), when, predicate)]


def operands(wanted: Sequence[Wanted]) -> dict[str, str]:
    """Return name of a frame's column -> the SQL of its value, for all that the expectations look at."""
    return {_named(text): text for item in wanted for text in item.columns}


def read_all(predicates: Sequence[str]) -> list[Wanted]:
    """Return what all of them expect; the same of the same rows once."""
    result: dict[tuple[str, str, str], Wanted] = {}
    for wanted in (wanted for predicate in predicates for wanted in read(predicate)):
        result.setdefault((wanted.kind, repr(wanted.arguments), repr(wanted.when)), wanted)
    return list(result.values())


def _wanted(kind: str, when: tuple[tuple[str, str, Any], ...], predicate: str, **arguments: Any) -> Wanted:
    return Wanted(f"Expect{kind}", arguments, when, predicate)


def _comparison(text: str, when: tuple[tuple[str, str, Any], ...], predicate: str) -> Iterator[Wanted]:
    if found := UNIQUE.fullmatch(text):
        keys = _split(found[1], ", ")
        given = {"column": keys[0]} if len(keys) == 1 else {"column_list": keys, "ignore_row_if": "never"}
        yield _wanted(
            "ColumnValuesToBeUnique" if len(keys) == 1 else "CompoundColumnsToBeUnique",
            when,
            predicate,
            **given,
        )
        return
    kind, operand, *values = _parts(text)
    literal = [_literal(value) for value in values]
    when_known = tuple(item for item in when if item != (operand, "not null", None))

    def one(name: str, **arguments: Any) -> Wanted:
        return _wanted(f"ColumnValuesTo{name}", when_known, predicate, column=operand, **arguments)

    def pair(larger: str, smaller: str, *, or_equal: bool) -> Wanted:
        name, given = "ColumnPairValuesAToBeGreaterThanB", {"column_A": larger, "column_B": smaller}
        return _wanted(name, when, predicate, **given, or_equal=or_equal, ignore_row_if="neither")

    if kind == "null":
        yield one("BeNull")
        return
    columns = [value for value, known in zip(values, literal, strict=True) if known is None]
    if not columns and kind != "distinct" and when_known == when:
        yield one("NotBeNull")
    match kind:
        case "not null":
            pass
        case "true":
            yield one("BeInSet", value_set=[True])
        case "in" | "not in" | "distinct" | "<>" | "=" if not columns:
            members = literal[0] if isinstance(literal[0], list) else literal
            yield one("BeInSet" if kind in ("in", "=") else "NotBeInSet", value_set=members)
        case "between" if not columns:
            yield one("BeBetween", min_value=literal[0], max_value=literal[1])
        case ">" | ">=" if not columns:
            yield one("BeBetween", min_value=literal[0], strict_min=kind == ">")
        case "<" | "<=" if not columns:
            yield one("BeBetween", max_value=literal[0], strict_max=kind == "<")
        case "between":
            yield pair(operand, values[0], or_equal=True)
            yield pair(values[1], operand, or_equal=True)
        case ">" | ">=":
            yield pair(operand, values[0], or_equal=kind == ">=")
        case "<" | "<=":
            yield pair(values[0], operand, or_equal=kind == "<=")
        case "=":
            given = {"column_A": operand, "column_B": values[0], "ignore_row_if": "neither"}
            yield _wanted("ColumnPairValuesToBeEqual", when, predicate, **given)
        case _:
            raise ValueError(f"no expectation says {text!r} (of {predicate!r})")


def _negated(text: str, predicate: str) -> tuple[str, str, Any]:
    """Return the comparison that a row meets for which `text` is not true."""
    kind, operand, *values = _parts(_bare(text))
    value = _literal(values[0]) if values else None
    negated: dict[str, tuple[str, Any]] = {
        "null": ("not null", None),
        "not": ("<>", False),
        "true": ("<>", True),
        "not true": ("=", True),
        "<>": ("= or null", value),
        "=": ("<>", value),
    }
    if kind not in negated or not NAME.fullmatch(operand) or (values and value is None):
        raise ValueError(f"rows cannot be chosen by {text!r} (of {predicate!r})")
    return (operand, *negated[kind])


def _condition(when: Sequence[tuple[str, str, Any]]) -> Any:
    from great_expectations.expectations.row_conditions import Column

    def one(name: str, kind: str, value: Any) -> Any:
        column = Column(_named(name))
        match kind:
            case "not null":
                return column.is_not_null()
            case "=":
                return column == value
            case "<>":
                return column != value
            case _:
                return (column == value) | column.is_null()

    first, *others = (one(*item) for item in when)
    for other in others:
        first = first & other
    return first


def _parts(text: str) -> tuple[str, ...]:
    """Return (kind, operand, values ...) of one comparison."""
    blank = _blank(text)
    for form, kind in FORMS:
        if found := form.fullmatch(blank):
            groups = [text[slice(*found.span(number))] for number in range(1, found.re.groups + 1)]
            return (kind, *groups) if kind else (groups[1], groups[0], groups[2])
    return "true", text


def _literal(text: str) -> Any:
    """Return the value of a number, a string or a list of them; None if it is an operand."""
    if text.startswith("(") and _bare(text) != text:
        members = [_literal(part.rstrip(",")) for part in _split(_bare(text), ", ")]
        return None if None in members else members
    if text.startswith("'") and text.endswith("'") and "'" not in text[1:-1].replace("''", ""):
        return text[1:-1].replace("''", "'")
    if NUMBER.fullmatch(text):
        return float(text) if re.search(r"[.e]", text) else int(text)
    return None


def _clauses(text: str) -> Iterator[str]:
    """Yield what AND joins; the AND of a BETWEEN joins nothing."""
    begun = ""
    for part in _split(text, " AND "):
        if begun or " BETWEEN " not in _blank(part):
            yield begun + part
            begun = ""
        else:
            begun = f"{part} AND "


def _split(text: str, word: str) -> list[str]:
    """Return the parts of `text` between `word`, outside of brackets and quotes."""
    blank, result, start = _blank(text), [], 0
    while (at := blank.find(word, start)) >= 0:
        result.append(text[start:at])
        start = at + len(word)
    return [*result, text[start:]]


def _bare(text: str) -> str:
    """Return `text` without the brackets around all of it."""
    return (
        text[1:-1] if text.startswith("(") and set(_blank(text)[1:-1]) <= {"\0"} and len(text) > 2 else text
    )


def _blank(text: str) -> str:
    """Return `text` with what is in brackets or in quotes blanked, at the same length."""
    result, depth, quoted = [], 0, ""
    for letter in text:
        inside = depth > 0 or bool(quoted)
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        else:
            depth += (letter == "(") - (letter == ")")
        result.append("\0" if inside and (depth > 0 or bool(quoted)) else letter)
    return "".join(result)


def _named(text: Any) -> Any:
    """Return an operand as the name of a column; of a list each."""
    if not isinstance(text, str):
        return [_named(item) for item in text]
    return text.strip('"') if NAME.fullmatch(text) else text
