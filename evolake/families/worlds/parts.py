"""What boards and queues are drawn of: rules, some with an amount, and questions, with meanings for three
engines; and what a reader declares: each sentence that a statement may say, with the function or constant
that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from evolake.families.model.contract import (
    CATEGORIES,
    Alternative,
    Answer,
    AnswerType,
    Family,
    MutationPoint,
    Port,
)
from evolake.families.model.statement import QUESTION_LINE, RULE, SLOT, rules, with_rules
from evolake.families.model.wording import ALWAYS, DECLARATION, sentences

DRAWS = 15
"""Of rules, for one question."""


@dataclass(frozen=True)
class Rule:
    """A kind of rule. label: for titles. text: with words of the theme and {k}. run, table, relation: its
    meanings. amounts: what {k} may be, one of which stands for K in the meanings; a rule without any has one
    that is not spoken of.
    """

    point: str
    name: str
    label: str
    text: str
    run: str
    table: str
    relation: str
    amounts: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Question:
    """text: with words of the theme and slots. run, table, clauses: the bodies of its answers. answer: their
    type."""

    name: str
    title: str
    text: str
    run: str
    table: str
    clauses: str
    answer: AnswerType = field(default="integer", kw_only=True)


Kind = TypeVar("Kind", bound=Rule)


@dataclass(frozen=True)
class WithAmount(Generic[Kind]):
    """A rule with its amount."""

    rule: Kind
    amount: int

    @property
    def key(self) -> str:
        """Its name in the sources."""
        return f"{self.rule.name}_{self.amount}" if len(self.rule.amounts) > 1 else self.rule.name

    def code(self, meaning: str) -> str:
        """Return its meaning of that name, of this amount."""
        text: str = getattr(self.rule, meaning)
        return text.replace("K", str(self.amount)) if len(self.rule.amounts) > 1 else text


class Keyed(Protocol):
    """An alternative of a rule, by its name in the sources."""

    @property
    def key(self) -> str:
        """Return the key."""
        ...


class Themed(Protocol):
    """What a family takes of its theme."""

    @property
    def category(self) -> str:
        """Return the category of things."""
        ...


Chosen = TypeVar("Chosen", bound=Keyed)
Theme = TypeVar("Theme")
Asked = TypeVar("Asked")


def by_rules(labels: Iterable[str]) -> str:
    """Return the end of a title, each label once."""
    once = list(dict.fromkeys(labels))
    return ", by " + (" and ".join([", ".join(once[:-1]), once[-1]]) if len(once) > 1 else once[0])


def labels_of(keys: Iterable[str], known: Iterable[WithAmount[Kind]]) -> list[str]:
    """Return what titles call the rules of these keys. Raises KeyError for a key of no rule that is known."""
    by_key = {item.key: item.rule.label for item in known}
    return [by_key[key] for key in keys]


def drawn_world(
    random: np.random.Generator,
    themes: Sequence[Theme],
    questions: Sequence[Asked],
    known: Mapping[str, Sequence[Chosen]],
    family_of: Callable[[Theme, dict[str, list[Chosen]], Asked], Family | None],
) -> Family | None:
    """Return a family of a drawn theme, question and two rules of each point; None if none came of any.

    known: the rules of each point. family_of: the family of these choices, None where they are not worth one.
    """
    theme = themes[int(random.integers(len(themes)))]
    for place in random.permutation(len(questions)).tolist():
        for _ in range(DRAWS):
            rules = {
                point: [alike[item] for item in random.choice(len(alike), size=2, replace=False).tolist()]
                for point, alike in known.items()
            }
            if (family := family_of(theme, rules, questions[place])) is not None:
                return family
    return None


def points_of(
    rules: Mapping[str, Sequence[Chosen]], said: Callable[[Chosen], str]
) -> tuple[MutationPoint, ...]:
    """Return the mutation points of rules, by point; the first alternative of each is in force."""
    return tuple(
        MutationPoint(
            name,
            tuple(Alternative(item.key, said(item), f'"{item.key}"') for item in alternatives),
            alternatives[0].key,
        )
        for name, alternatives in rules.items()
    )


def constants_of(rules: Mapping[str, Sequence[Keyed]]) -> str:
    """Return the assignments that say which rules are in force."""
    return "".join(f'{point.upper()} = "{alternatives[0].key}"\n' for point, alternatives in rules.items())


@dataclass(frozen=True)
class WorldSources:
    """The sources of a process world's family. simulation: the primary; clauses and table are independent of
    it."""

    generator: str
    simulation: str
    clauses: str
    table: str
    reader: str


def process_family(
    theme: Themed,
    title: str,
    template: str,
    sources: WorldSources,
    *,
    points: tuple[MutationPoint, ...],
    ports: tuple[Port, ...],
    answer: AnswerType = "integer",
) -> Family:
    """Return the family of a process world, by its sources."""
    assert theme.category in CATEGORIES
    return Family(
        name="process_world",
        title=title,
        category=theme.category,  # pyright: ignore[reportArgumentType]
        language="en",
        generator=sources.generator,
        template=template,
        validator=sources.simulation,
        validators={"clauses": sources.clauses, "table": sources.table},
        reader=sources.reader,
        answer=Answer(answer),
        points=points,
        ports=ports,
        parents=(),
        operator="process_world",
    )


Holder = Callable[[MutationPoint, Alternative], str]


def declared_source(
    template: str, points: Sequence[MutationPoint], holder: Holder, listed: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the assignment of SENTENCES.

    holder: the name in the engines of a rule's alternative, "" where only the rule's constant is. listed:
    (sentence of a list with {slots}, name in the engines).
    """
    result: dict[str, str] = {}
    for sentence in sentences(QUESTION_LINE.sub("", template)):
        if not SLOT.sub("", sentence).strip():
            continue
        shown = rules(sentence)
        if not shown:
            result[_slotted(sentence)] = ALWAYS
        for point in points:
            if point.name in shown:
                for item in point.alternatives:
                    summary = with_rules(sentence, {point.name: item.text})
                    assert not RULE.search(summary)
                    result |= {
                        _slotted(element): f"{name}?" if (name := holder(point, item)) else ""
                        for element in sentences(summary)
                    }
    result |= {f"- {sentence}": f"{name}?" for sentence, name in listed}
    rows = "".join(f"    {text!r}: {code!r},\n" for text, code in result.items())
    return f"{DECLARATION} = {{\n{rows}}}\n"


def _slotted(sentence: str) -> str:
    return SLOT.sub(lambda match: f"{{slot{match[1]}}}", sentence)
