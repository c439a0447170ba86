"""An engine of drawn worlds: words, programs, rules, questions and themes, read from one file; and
the family of a theme, a question and two alternatives of each rule.

The programs are a generator, a `primary`, and a `first` and a `second` that share no code with it; engines with
many correct answers have two checkers as well. Answers of questions are the last statements of the programs'
`solution` and the first ones of the checkers' `check`. Programs compare the constant of a rule with the name of
its alternative, or look up a function of that name (`evolake.families.worlds.process_world`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

from evolake.families.model.contract import ANSWER_TYPES, CATEGORIES, Answer, AnswerType, Family, Port
from evolake.families.model.statement import whole
from evolake.families.worlds.engine_files import (
    WORD,
    Words,
    by_rules,
    constants_of,
    declared_source,
    named_records,
    parts_of,
    points_of,
    said,
    themes_of,
    upper,
    with_code,
    wrong,
)

PROGRAMS = ("primary", "first", "second")
CHECKERS = ("check_first", "check_second")
READER = """import re

WORDS = __words__
WHOLE = __whole__
__declared__
__reading__


def read(text):
    __matched__
    return __read__
"""
MATCHED = """
match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
if match is None:
    raise ValueError("not a statement of this family")"""
"""What a reader begins with."""
MEANINGS = ("run", "table", "relation")
"""Of a rule, in the terms of three programs."""
COMPUTED = {"asked", "begin", "ruled", "slot", "s", "k"}
"""Words that depend on more than the theme."""


@dataclass(frozen=True)
class Rule:
    """An alternative of a rule.

    Attributes:
        name: in the sources. label: for titles. text: with words of the theme, and <k> for the amount. Texts
            of two rules never contain each other.
        run, table, relation: its meaning in the terms of three programs, if it is more than its name.
        kind, amount, stores: what it is made of, see `rules_of_row`. reads, writes: variables, of a rule on
            stores. cards: whether it asks who has a card.
    """

    name: str
    label: str
    text: str
    run: str = ""
    table: str = ""
    relation: str = ""
    kind: str = ""
    amount: int = 0
    stores: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    cards: bool = False


@dataclass(frozen=True)
class Question:
    """title: for titles. text: with words of the theme, and <asked> for the slot of `key`, a number that is
    asked about, set by `make` in the generator; low, high: see Port, which there is if it has a high. primary, first, second: bodies of its
    answers; check_first, check_second: of an engine with many correct answers.

    cards: whether it asks who has a card. uses: variables, `s` being a drawn store. places: places of
    programs that are filled in otherwise.
    """

    name: str
    title: str
    text: str
    answer: AnswerType
    primary: str = ""
    first: str = ""
    second: str = ""
    check_first: str = ""
    check_second: str = ""
    make: str = ""
    key: str = ""
    low: int = 1
    high: int | tuple[str, ...] = 0
    cards: bool = False
    uses: str = ""
    places: Mapping[str, str] = field(default_factory=dict[str, str])


Rules = Mapping[str, Sequence[Rule]]
"""Point -> its alternatives, of which the first is in force."""


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: of its file, and in fingerprints of mechanics. place: among the puzzles; what is drawn depends
            on it. category: of its families, if their theme says none.
        validators, checkers: what the two independent programs, and the two checkers, are called.
        text: the statement before the question, with words of the theme, slots and rules. listed: sentences
            of its lists, with their own {slots}. forms: slot -> the regular expression of its texts.
        rules: point -> its alternatives, in the order of the text. themes: words by name; `names` are names
            that a generator draws.
        programs: part -> its text. reader: likewise. read: the expression of the inputs of `match` in the
            common reader; it sees the words as WORDS. reading: functions that it calls. shared: what the
            generator and the primary of a process have both.
        constants: assignments of all programs that depend on the theme. places: what is filled in for
            questions that say no other. process: what a process has in addition, see `process_world`.
    """

    name: str
    text: str
    rules: Mapping[str, tuple[Rule, ...]]
    questions: tuple[Question, ...]
    themes: Sequence[Words]
    programs: Mapping[str, str]
    validators: tuple[str, ...]
    checkers: tuple[str, ...]
    place: int = 0
    category: str = ""
    reader: str = READER
    read: str = ""
    reading: str = ""
    shared: str = ""
    constants: str = ""
    listed: Sequence[str] = ()
    forms: Mapping[int, str] = field(default_factory=dict[int, str])
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    process: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def alternatives(self) -> tuple[Rule, ...]:
        """Return the alternatives of all rules, each once."""
        return tuple(dict.fromkeys(chain(*self.rules.values())))

    def says(self, rule: Rule, theme: Words) -> str:
        """Return the rule in the words of the theme."""
        counted = self.process.get("one" if rule.amount == 1 else "many", {})
        return said(rule.text, {**theme, "k": str(rule.amount), **counted})


def engine_in(text: str, name: str) -> Engine:
    """Return the engine that the text of the file NAME.md declares.

    Raises:
        MachineryError: something is missing, unknown or there twice.
        Unparsable: the words are no TOML.
    """
    words, programs, called = parts_of(text, name)
    own = {part: programs.pop(part) for part in ("shared", "reader") if part in programs}
    parts = ("generator", *PROGRAMS, *(CHECKERS if CHECKERS[0] in programs else ()))
    if tuple(programs) != parts:
        raise wrong(name, f"programs: {', '.join(programs)}", f"{', '.join(parts)}, in this order")
    if unnamed := [part for part in parts[2:] if not called[part]]:
        raise wrong(name, f"`## {unnamed[0]}` without a name", f"## {unnamed[0]}: NAME")
    for part in ("rules", "questions", "themes"):
        if not words.get(part):
            raise wrong(name, f"no {part}")
    for part in parts[1:]:
        if any(part not in question for question in words["questions"].values()):
            raise wrong(name, f"a question without {part!r}")
    alike = {point: _rules(given, name) for point, given in words.pop("rules").items()}
    points, common = words.pop("points", alike), words.pop("words", {})
    given: dict[str, Any] = {
        **words,
        **own,
        "forms": {int(slot): form for slot, form in words.get("forms", {}).items()},
        "rules": {point: alike.get(point) or alike["any"] for point in points},
        "questions": named_records(Question, words["questions"], name),
        "themes": themes_of(words["themes"], common, name),
    }
    try:
        engine = Engine(
            name=name,
            programs=programs,
            validators=(called["first"], called["second"]),
            checkers=tuple(called[part] for part in parts if part in CHECKERS),
            **given,
        )
    except TypeError as error:  # an attribute that is unknown or missing
        raise wrong(name, str(error)) from None
    _check_words(engine)
    return engine


def _rules(given: Any, name: str) -> tuple[Rule, ...]:
    """Return the alternatives of a rule: tables by name, or rows."""
    if isinstance(given, Mapping):
        return named_records(Rule, given, name)
    found: dict[str, Rule] = {}
    for row in given:
        for rule in rules_of_row(row, name):
            found.setdefault(rule.name, rule)
    return tuple(found.values())


def rules_of_row(row: Sequence[Any], name: str) -> list[Rule]:
    """Return the rules of a row: kind, label, text, run, table, relation, and at its end a table.

    `amounts`: one rule for each, with K in its meanings replaced. `reads`, `writes`: letters of variables, of
    which `s` and `t` are two different stores; one rule for each choice of them, with "S" and "T" replaced.
    """
    further: dict[str, Any] = dict(row[-1]) if isinstance(row[-1], dict) else {}
    kind, label, text, *codes = (str(value).strip("\n") for value in row[: len(row) - bool(further)])
    if len(codes) != len(MEANINGS):
        raise wrong(name, f"row {kind!r}: {len(codes)} meanings", ", ".join(MEANINGS))
    reads, writes = (str(further.pop(key, "")) for key in ("reads", "writes"))
    amounts = further.pop("amounts", ())
    result = []
    for stores, amount in product(("ab", "ba") if reads else ("",), amounts or (0,)):
        named = dict(zip("st", stores, strict=False))
        meanings = [code.replace("K", str(amount)) if amounts else code for code in codes]
        said_so = text
        for letter, store in named.items():
            said_so = said_so.replace(f"<{letter}>", f"<{store}>")
            meanings = [code.replace(f'"{letter.upper()}"', f'"{store}"') for code in meanings]
        called = "".join(named[letter] for letter in reads if letter in named)
        try:
            rule = Rule(
                "_".join(filter(None, (kind, called, str(amount) if amounts else ""))),
                label,
                said_so,
                *meanings,
                kind=kind,
                amount=amount,
                stores=stores,
                reads=tuple(named.get(letter, letter) for letter in reads),
                writes=tuple(named.get(letter, letter) for letter in writes),
                **further,
            )
        except TypeError as error:
            raise wrong(name, f"row {kind!r}: {error}") from None
        result.append(rule)
    return result


def _check_words(engine: Engine) -> None:
    """Raise MachineryError for a category, type or word that does not exist."""
    for category in (theme.get("category", engine.category) for theme in engine.themes):
        if category not in CATEGORIES:
            raise wrong(engine.name, f"category {category!r}", ", ".join(CATEGORIES))
    if few := [point for point, alike in engine.rules.items() if len(alike) < 2]:
        raise wrong(engine.name, f"rule {few[0]} with one alternative", "two or more")
    if odd := [question.answer for question in engine.questions if question.answer not in ANSWER_TYPES]:
        raise wrong(engine.name, f"an answer of type {odd[0]!r}", ", ".join(ANSWER_TYPES))
    texts = [
        engine.text,
        engine.constants,
        engine.reading,
        *engine.listed,
        *(text for rule in engine.alternatives for text in (rule.label, rule.text)),
        *(question.text for question in engine.questions),
    ]
    used = {"title", *(word for text in texts for word in WORD.findall(text))}
    own = COMPUTED | set(engine.process.get("one", ())) | set(engine.process.get("many", ()))
    for theme in engine.themes:
        if lacking := sorted(word for word in used - own if word not in theme and word.lower() not in theme):
            raise wrong(engine.name, f"a theme without the word {lacking[0]!r}: {dict(theme)}")


@dataclass
class Details:
    """What a kind of world adds to a family.

    words: of its text. codes, places: of its programs, see `with_code`. forms: of slots; slot: that of its
    question. held, listed: see `declared_source`; None: the sentences of the engine. rules: as code, by part of
    the programs.
    """

    words: dict[str, str] = field(default_factory=dict[str, str])
    codes: dict[str, str] = field(default_factory=dict[str, str])
    places: dict[str, Any] = field(default_factory=dict[str, Any])
    forms: dict[int, str] = field(default_factory=dict[int, str])
    slot: int = 0
    held: Mapping[str, str] = field(default_factory=dict[str, str])
    listed: Sequence[tuple[str, str]] | None = None
    rules: Callable[[str], str] = lambda part: ""


def family_of(
    engine: Engine, theme: Words, rules: Rules, question: Question, kind: str, details: Details
) -> Family:
    """Return the family of these choices. kind: what its operator is called."""
    slot = details.slot
    words = {**theme, **details.words, "asked": f"[Input Slot {slot}]"}
    asked = upper(said(question.text.strip("\n"), words))
    text = f"{said(engine.text, words)}\n\n<!-- question -->\n{asked}\n"
    points = points_of(
        {point: {rule.name: engine.says(rule, theme) for rule in alike} for point, alike in rules.items()}
    )
    forms = {number: said(form, theme) for number, form in engine.forms.items()} | details.forms
    listed = details.listed
    if listed is None:
        listed = [(said(sentence, theme), "") for sentence in engine.listed]
    codes = {
        **engine.places,
        **question.places,
        **({"make": question.make} if question.make else {}),
        **details.codes,
        "constants": constants_of(points) + said(engine.constants, theme),
        "reading": said(engine.reading, theme),
        "matched": MATCHED,
    }
    places = {
        **{name: word for name, word in theme.items() if isinstance(word, str)},
        "words": repr(dict(theme)),
        "read": engine.read,
        "whole": repr(whole(text, points, forms)),
        "declared": declared_source(text, points, details.held, listed),
        "ask": f'"{question.key}": int(match["slot{slot}"])' if question.key else "",
        **details.places,
    }

    def filled(program: str, part: str, **more: str) -> str:
        answer = getattr(question, part, "")
        return with_code(
            program, {**codes, "answer": answer}, {**places, "rules": details.rules(part), **more}
        )

    shared = filled(engine.shared, "shared")
    generator, primary, *others = (
        filled(program, part, shared=shared) for part, program in engine.programs.items()
    )
    return Family(
        name=kind,
        title=f"{theme['title']}: {question.title}"
        + by_rules(said(alike[0].label, theme) for alike in rules.values()),
        category={"category": engine.category, **theme}["category"],
        language="en",
        generator=generator,
        template=text,
        validator=primary,
        validators=dict(zip(engine.validators, others[:2], strict=True)),
        reader=filled(engine.reader, "reader"),
        answer=Answer(question.answer),
        points=points,
        ports=(Port(question.key, ("ask", question.key), slot, question.low, question.high),)
        if question.high
        else (),
        parents=(),
        operator=kind,
        checkers=dict(zip(engine.checkers, others[2:], strict=True)),
    )
