"""Read engines: Markdown files with an engine's words in a block of TOML, and a program in a block of Python
below each heading.

    ## first: memo

    What this one does otherwise than the primary.

    ```python
    ...
    ```

A heading is the program's part, with the name that families call it by, if it has one. In texts, <word> stands
for a word of the theme, and <Word> for the same with a capital. In programs, names in double underscores are
filled in (`evolake.program_templates`). A puzzle's primary that can find all right answers has `every(inputs)`,
which yields them, and writes one in `shown`: operators ask it for more.

In TOML, many things of one kind are rows: values in the order of the attributes of their class, and at the end
of a row a table of those that differ from the defaults. Rows of themes begin with a row of their words' names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent
from typing import Any, TypeVar

import numpy as np

from evolake.errors import MachineryError
from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.statement import QUESTION_LINE, RULE, SLOT, rules, with_rules
from evolake.families.model.wording import ALWAYS, DECLARATION, sentences
from evolake.lines import folder_of
from evolake.reading.toml_text import parse_toml

WORLDS = folder_of("evolake.families.worlds")
FOLDER = WORLDS / "engines"
WORD = re.compile(r"<([A-Za-z_]+)>")
"""A word of the theme, in a text."""
_FENCE = re.compile(r"^```(\w*)\n", re.MULTILINE)
_HEADING = re.compile(r"^## (\w+)(?:: (\w+))?\n", re.MULTILINE)
_PLACE = re.compile(r"^( *)__([a-z]+(?:_[a-z]+)*)__\n|__([a-z]+(?:_[a-z]+)*)__", re.MULTILINE)

Record = TypeVar("Record")
Words = Mapping[str, Any]
"""A theme: `title` begins the titles of families; every other word by its name in texts."""


def parts_of(text: str, name: str) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """Return the words, the text of each program, and what each is called, of the text of NAME.md.

    Raises:
        MachineryError: a block at the wrong place.
        Unparsable: the words are no TOML.
    """
    words: dict[str, Any] = {}
    programs: dict[str, str] = {}
    called: dict[str, str] = {}
    blocks = _FENCE.split(text)
    if len(blocks) % 4 != 1 or any(blocks[3::4]):
        raise wrong(name, "a block that does not end")
    for prose, language, block in zip(blocks[::4], blocks[1::4], blocks[2::4], strict=False):
        heading = _HEADING.findall(prose)
        if language == "toml" and not heading and not words:
            words = parse_toml(block, name=f"{name}.md")
        elif language == "python" and len(heading) == 1 and heading[0][0] not in programs:
            [(part, program)] = heading
            programs[part], called[part] = block, program
        else:
            raise wrong(name, f"a block of {language or 'nothing'} below {heading or 'no heading'}")
    return words, programs, called


def engine_parts(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the words and the programs of an engine of FOLDER; one without programs is TOML alone."""
    path = FOLDER / f"{name}.md"
    if not path.is_file():
        path = path.with_suffix(".toml")
        return parse_toml(path.read_bytes(), name=path.name), {}
    return parts_of(path.read_text(encoding="utf-8"), name)[:2]


def wrong(name: str, got: str, wanted: str = "what the other engines have") -> MachineryError:
    """Return the error of an engine's file."""
    return MachineryError(f"engine {name}.md cannot be used", wanted=wanted, got=got, do="correct the file")


def records(kind: type[Record], rows: Iterable[Sequence[Any]], name: str) -> tuple[Record, ...]:
    """Return the rows of an engine's file as entries of a class. Raises MachineryError for a row that has too
    many values, too few, or unknown ones."""
    result = []
    for row in rows:
        further = row[-1] if isinstance(row[-1], dict) else {}
        values = [_fixed(value) for value in row[: len(row) - bool(further)]]
        try:
            result.append(kind(*values, **{key: _fixed(value) for key, value in further.items()}))
        except TypeError as error:
            raise wrong(name, f"row {further.get('name', row[0])!r}: {error}") from None
    return tuple(result)


def named_records(
    kind: type[Record], tables: Mapping[str, Mapping[str, Any]], name: str
) -> tuple[Record, ...]:
    """Return tables by name as entries of a class, of which the name is an attribute. Raises MachineryError
    for a table with a key that is missing or unknown."""
    return records(kind, [({"name": key, **table},) for key, table in tables.items()], name)


def themes_of(rows: Sequence[Any], words: Words, name: str) -> tuple[dict[str, Any], ...]:
    """Return the themes of tables or of rows; `words` are those of themes that say no others. Raises
    MachineryError for a row with too few or too many words."""
    names, *themes = rows
    if isinstance(names, dict):
        return tuple({**words, **theme} for theme in rows)
    result = []
    for theme in themes:
        further = theme[-1] if isinstance(theme[-1], dict) else {}
        if len(theme) - bool(further) != len(names):
            raise wrong(
                name, f"theme {theme[0]!r} of {len(theme)} words", f"{len(names)}: {', '.join(names)}"
            )
        result.append({**words, **dict(zip(names, theme, strict=False)), **further})
    return tuple(result)


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def said(text: str, words: Words) -> str:
    """Return the text in the words of the theme, which may hold words themselves."""

    def word(match: re.Match[str]) -> str:
        name = match[1]
        if name in words:
            return said(words[name], words)
        return upper(said(words[name.lower()], words))

    return WORD.sub(word, text)


def with_code(program: str, codes: Mapping[str, str], places: Mapping[str, object]) -> str:
    """Return a program with its places filled in, as `evolake.program_templates` does.

    codes: place -> statements, which get the indentation of their place if it is alone on its line. Raises
    KeyError for a place without a value.
    """

    def filled(match: re.Match[str]) -> str:
        margin, alone, within = match.groups()
        if alone not in codes:
            return str(places[alone] if alone else {**codes, **places}[within])
        lines = codes[alone].strip("\n")
        return indent(f"{lines}\n", margin) if lines else ""

    return _PLACE.sub(filled, program)


def upper(sentence: str) -> str:
    """Return the sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def checked(keys: Sequence[str], quote: str = '"') -> str:
    """Return what a program begins with whose inputs have these keys. quote: of its message."""
    quoted = ", ".join(f'"{key}"' for key in keys)
    return (
        f"if not isinstance(inputs, dict) or {{{quoted}}} - set(inputs):\n"
        f'    return {{"status": "schema_error", "detail": {quote}{", ".join(keys)}{quote}}}'
    )


def one_of(random: np.random.Generator, known: Sequence[Record]) -> Record:
    """Return one of these, each as likely."""
    return known[int(random.integers(len(known)))]


def some_of(random: np.random.Generator, known: Sequence[Record], count: int = 2) -> list[Record]:
    """Return some of these, in a drawn order."""
    return [known[place] for place in random.choice(len(known), size=count, replace=False).tolist()]


def by_rules(labels: Iterable[str]) -> str:
    """Return the end of a title, each label once."""
    once = list(dict.fromkeys(labels))
    return ", by " + (" and ".join([", ".join(once[:-1]), once[-1]]) if len(once) > 1 else once[0])


def points_of(alternatives: Mapping[str, Mapping[str, str]]) -> tuple[MutationPoint, ...]:
    """Return mutation points: point -> name of an alternative -> its text; the first of each is in force."""
    return tuple(
        MutationPoint(
            point,
            tuple(Alternative(name, text, f'"{name}"') for name, text in alike.items()),
            next(iter(alike)),
        )
        for point, alike in alternatives.items()
    )


def constants_of(points: Iterable[MutationPoint]) -> str:
    """Return the assignments that say which rules are in force."""
    return "".join(f'{point.constant} = "{point.chosen}"\n' for point in points)


def declared_source(
    template: str,
    points: Sequence[MutationPoint],
    held: Mapping[str, str],
    listed: Iterable[tuple[str, str]] = (),
) -> str:
    """Return the assignment of SENTENCES: each sentence that a statement may say, with the function or
    constant that holds it.

    held: point -> how the names of functions for its alternatives begin; of other points only the constant
    holds the rule. listed: (sentence of a list with {slots}, name in the engines).
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
                    holder = f"{held[point.name]}{item.name}?" if point.name in held else ""
                    result |= {_slotted(element): holder for element in sentences(summary)}
    result |= {f"- {sentence}": f"{name}?" for sentence, name in listed}
    rows = "".join(f"    {text!r}: {code!r},\n" for text, code in result.items())
    return f"{DECLARATION} = {{\n{rows}}}\n"


def _slotted(sentence: str) -> str:
    return SLOT.sub(lambda match: f"{{slot{match[1]}}}", sentence)
