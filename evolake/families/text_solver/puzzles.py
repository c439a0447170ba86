"""Questions about all the assignments that fit: one, the first words, what is settled or sure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from evolake.families.text_solver.language import Reader, Unanswerable, Unreadable, known
from evolake.families.text_solver.search import Clue

Fits = list[dict[str, int]]


def asked(
    reader: Reader,
    questions: dict[str, list[str]],
    names: list[str],
    clue: Callable[[str, dict[str, Any]], Clue],
    clues: dict[str, list[str]],
    more: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> Callable[[Fits], Any]:
    """Read statements (if any) and the question to the end of the text.

    Args:
        reader: stands after what is known.
        questions: whole questions by name; a question may be several sentences.
        names: all names.
        clue: the clue of a sentence's meaning and values.
        clues: sentences of clues by meaning.
        more: answers by name of question, with those of ANSWERS.

    Returns:
        A function from the list of all assignments that fit to the answer.
    """
    statements = _statements(reader, clue, clues)
    left = list(reversed(reader.rest))
    whole = Reader([" ".join(left)], reader.words)
    found = whole.maybe_choose(questions)
    if found is None:
        raise Unreadable(reader.next or "the text ends without a question")
    name, values = found
    if (name in {"holding", "sometimes"}) != bool(statements):
        raise Unreadable(whole.rest[0] if whole.rest else "statements without their question")
    known(names, values)
    answer = {**ANSWERS, **more}[name]
    return lambda fits: answer(_some(fits), names=names, statements=statements, **values)


def _some(fits: Fits) -> Fits:
    if not fits:
        raise Unanswerable("nothing fits everything that is said")
    return fits


def _statements(reader, clue, clues) -> list[Clue]:
    found: list[Clue] = []
    if reader.maybe("Look at these statements:") is not None:
        while reader.next.startswith("("):
            found.append(clue(*reader.choose(clues, f"({len(found) + 1}) ")))
    return found


def _only(fits: Fits) -> dict[str, int]:
    if len(fits) != 1:
        raise Unanswerable(f"the text says that exactly one fits; {len(fits)} do")
    return fits[0]


def _word(fit: dict[str, int]) -> str:
    return "".join(name[0] for name in sorted(fit, key=lambda name: fit[name]))


def _nth_word(fits: Fits, k: int, **_: Any) -> str:
    words = sorted({_word(fit) for fit in fits})
    if not 1 <= k <= len(words):
        raise Unanswerable(f"the list has {len(words)} words; number {k} is asked for")
    return words[k - 1]


def _settled(fits: Fits, names: list[str], **_: Any) -> dict[str, int]:
    return {name: fits[0][name] for name in names if len({fit[name] for fit in fits}) == 1}


def _holding(fits: Fits, statements: list[Clue], **_: Any) -> list[int]:
    return [
        number
        for number, statement in enumerate(statements, 1)
        if all(statement.true_in(fit) for fit in fits)
    ]


def _sometimes(fits: Fits, statements: list[Clue], **_: Any) -> list[int]:
    return [number for number, statement in enumerate(statements, 1) if any(map(statement.true_in, fits))]


ANSWERS: dict[str, Callable[..., Any]] = {
    "word": lambda fits, **_: _word(_only(fits)),
    "mapping": lambda fits, **_: _only(fits),
    "count": lambda fits, **_: len(fits),
    "least": lambda fits, names, **_: {name: min(fit[name] for fit in fits) for name in names},
    "possible": lambda fits, a, **_: sorted({fit[a] for fit in fits}),
    "nth_word": _nth_word,
    "settled": _settled,
    "most": lambda fits, names, **_: {name: max(fit[name] for fit in fits) for name in names},
    "holding": _holding,
    "sometimes": _sometimes,
}
