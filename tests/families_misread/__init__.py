"""Family texts in varied prose whose programs share a misreading (FAULTY), and sound ones (SOUND), as text
files.

A section begins with `##### name | answer type | category`. `[1]` in a text is an input slot; the reader
accepts no other wording and gives its groups, by number of the slot, as `m`. Each set was committed before
the catalogue of readings was measured on it, and all have one author.
"""

from __future__ import annotations

import re
from pathlib import Path

from evolake.families.model.contract import ANSWER_TYPES, Answer, Family

FOLDER = Path(__file__).parent
FAULTY = ("dev", "held", "fresh", "fresh2", "fresh3", "fresh4", "fresh5")
SOUND = ("good", "good2")
_HEAD = "import random\nfrom collections import deque\nfrom fractions import Fraction\n\n\n"


def read(name: str) -> list[Family]:
    """Return the families of one file of FAULTY or SOUND."""
    sections = (FOLDER / f"{name}.txt").read_text().split("##### ")[1:]
    return [_family(section) for section in sections]


def _family(section: str) -> Family:
    title, rest = section.split("\n", 1)
    name, answer, category = title.split(" | ")
    kind = next(item for item in ANSWER_TYPES if item == answer)
    pieces = re.split(r"^--- (\w+)\n", rest, flags=re.M)
    part = dict(zip(pieces[1::2], (piece.strip("\n") for piece in pieces[2::2]), strict=True))
    template = re.sub(
        r"\[(\d)\]", r"[Input Slot \1]", f"{part['text']}\n\n<!-- question -->\n{part['question']}\n"
    )
    return Family(
        name=name,
        title=name,
        category=category,
        language="en",
        generator=f"import random\n\n\ndef input(difficulty):\n{_body(part['generator'])}",
        template=template,
        validator=_program(part["p"]),
        validators={"second": _program(part["a"]), "third": _program(part["b"])},
        reader=_reader(part),
        answer=Answer(kind),  # type: ignore[arg-type],
    )


def _body(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


def _program(text: str) -> str:
    return f"{_HEAD}def solution(i):\n{_body(text)}"


def _reader(part: dict[str, str]) -> str:
    seen: set[str] = set()
    pattern = ""
    for piece in re.split(r"(\[\d\])", f"{part['text']}\n{part['question']}"):
        slot = re.fullmatch(r"\[(\d)\]", piece)
        if slot is None:
            pattern += r"\s+".join(re.escape(word) for word in re.split(r"\s+", piece))
        else:
            pattern += f"(?P=s{slot[1]})" if slot[1] in seen else f"(?P<s{slot[1]}>.*?)"
            seen.add(slot[1])
    return (
        "import re\n\n\ndef ints(text):\n    return [int(x) for x in text.split(', ')]\n\n\ndef "
        "read(text):\n"
        f"    found = re.fullmatch({pattern!r}, text.strip(), re.S)\n    m = {{int(k[1:]): v for k, v in "
        "found.groupdict().items()}\n"
        f"    return {part['reader']}\n"
    )
