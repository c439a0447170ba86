"""Find answers that may be known without solving: from the statement itself, or from a benchmark that models
have seen.

That the answer occurs in the text means little: a small number occurs by chance, and a person to be found is
on the list. What betrays it is that one and the same place holds the answer in instance after instance: the
n-th number from either end, or what follows the same words. So each such place is tried as a guesser, over
many instances whose answers vary. Long answers (a list, a sentence) are simply looked for.

A statement is compared with benchmarks by overlap of word n-grams in normalised text: lower case, no
punctuation, every number the same, so that a known puzzle with other numbers is known again.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from evolake.answers.ngrams import ngrams
from evolake.errors import InputError
from evolake.families.model.contract import Family
from evolake.families.model.similarity import answer_key
from evolake.families.model.statement import SLOT, stated

TOKEN = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+)?|[^\W\d_]+")
LISTING = re.compile(r"[\[({][^\[\](){}]{0,400}[\])}]")
ENDS = 3
LONGEST_GUESS = 4000
LONG = 3
"""Elements from which on a list is too long to be in the text by chance."""


def leaking_place(texts: Sequence[str], answers: Sequence[Any]) -> tuple[str, float]:
    """Return (the place that guesses best, the share of instances in which it holds the answer). ("", 0.0)
    where answers do not vary."""
    keys = [answer_key(answer) for answer in answers]
    if len(set(keys)) < LONG:
        return "", 0.0
    hits: Counter[str] = Counter()
    for text, answer, key in zip(texts, answers, keys, strict=True):
        hits.update({place for place, result in guesses(text) if answer_key(_value(result)) == key})
        if isinstance(answer, list | dict) and len(answer) >= LONG and _spelled(text, answer):
            hits["the whole answer"] += 1
    place, count = max(hits.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    share = count / len(texts)
    return (place, share) if share > _by_chance(keys) else ("", 0.0)


def guesses(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name of a place, what is there)."""
    tokens = [(match.start(), match[0]) for match in TOKEN.finditer(text)]
    numbers = [token for _, token in tokens if token[-1].isdigit()]
    for number in range(min(ENDS, len(numbers))):
        yield f"number {number + 1}", numbers[number]
        yield f"number {number + 1} from the end", numbers[-1 - number]
    followers: dict[str, list[str]] = {}
    for (_, before), (_, token) in pairwise(tokens):
        if not before[-1].isdigit():
            followers.setdefault(before.casefold(), []).append(token)
    for word, result in followers.items():
        yield f"after {word!r}", result[0]
        yield f"last after {word!r}", result[-1]
    lists = LISTING.findall(text)
    if lists:
        yield "the first list", lists[0]
        yield "the last list", lists[-1]


def _value(text: str) -> Any:
    """Return a guess as a value: JSON where it is some, the text itself otherwise. Longer than LONGEST_GUESS
    it is no guess: Python refuses to convert integers of more than 4,300 digits.
    """
    if len(text) > LONGEST_GUESS:
        return text
    try:
        return json.loads(text.replace("(", "[").replace(")", "]").replace("'", '"'))
    except (ValueError, RecursionError):
        return text


def _spelled(text: str, answer: Any) -> bool:
    squeezed = re.sub(r"[\s'\"]", "", text)
    return re.sub(r"[\s'\"]", "", json.dumps(answer, ensure_ascii=False)) in squeezed


def _by_chance(keys: Sequence[str]) -> float:
    """Return what the best constant guess reaches: a place is no leak unless it beats that."""
    return Counter(keys).most_common(1)[0][1] / len(keys)


PLAIN = frozenset({".txt", ".md", ".csv", ".tsv"})
RECORDS = frozenset({".json", ".jsonl", ".parquet"})
LARGEST_MB = 32
"""Of all files of a folder together: their n-grams are held in memory."""
LONGEST_TEXT = 20_000
WORDS = 8
"""n of the word n-grams that are compared."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
Gram = tuple[str, ...]


def benchmark_evidence(
    family: Family, texts: Sequence[str], folder: str, words: int = WORDS
) -> dict[str, Any] | None:
    """Return the share of a statement's n-grams that are in the folder's files: of the template, or of an
    instance where that has more of them; and one of them in words. None if no folder is set.

    Raises InputError for a folder that cannot be read.
    """
    if not folder:
        return None
    files, known = benchmark_grams(Path(folder).expanduser(), words)
    best, shown = 0.0, ""
    for text in (SLOT.sub("\n", stated(family)), *texts):
        grams = list(normalised_grams(text[:LONGEST_TEXT], words))
        result = [gram for gram in grams if gram in known]
        if result and len(result) / len(grams) > best:
            best, shown = len(result) / len(grams), " ".join(result[0])
    return {"files": files, "words": words, "share": best, "shown": shown}


def normalised_grams(text: str, words: int) -> Iterator[Gram]:
    """Return the n-grams of a text whose numbers are all one."""
    return ngrams(_NUMBER.sub("0", text), words)


def benchmark_grams(folder: Path, words: int) -> tuple[int, frozenset[Gram]]:
    """Return (number of files, the n-grams of their texts). Raises InputError: no folder, no file of a known
    form, too large, or unreadable."""
    if not folder.is_dir():
        raise InputError(
            f"the folder of benchmarks {folder} is not there",
            wanted="a folder",
            do="correct EVOLAKE_FAMILIES__BENCHMARKS",
        )
    files = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in PLAIN | RECORDS and path.is_file()
    )
    if not files:
        wanted = ", ".join(sorted(PLAIN | RECORDS))
        raise InputError(
            f"no benchmark in {folder}",
            wanted=f"files that end in {wanted}",
            do="correct EVOLAKE_FAMILIES__BENCHMARKS",
        )
    sizes = tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    if (total := sum(size for _, size, _ in sizes)) > LARGEST_MB << 20:
        raise InputError(
            f"the benchmarks in {folder} are too large",
            wanted=f"at most {LARGEST_MB} MB",
            got=f"{total >> 20} MB",
            do="leave files out",
        )
    return len(files), _grams(sizes, words)


@functools.lru_cache(maxsize=1)
def _grams(files: tuple[tuple[str, int, int], ...], words: int) -> frozenset[Gram]:
    return frozenset(
        gram
        for path, _, _ in files
        for text in texts_of(Path(path))
        for gram in normalised_grams(text, words)
    )


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of one file: a plain one whole, of records every string at any depth. Raises InputError
    where it cannot be read."""
    try:
        if path.suffix.lower() == ".parquet":
            import polars as pl

            for row in pl.read_parquet(path).iter_rows():
                yield from strings(row)
        elif path.suffix.lower() == ".jsonl":
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip():
                    yield from strings(json.loads(line))
        elif path.suffix.lower() == ".json":
            yield from strings(json.loads(path.read_text(encoding="utf-8")))
        else:
            yield path.read_text(encoding="utf-8")
    except Exception as error:  # a damaged Parquet file fails in many ways
        raise InputError(
            f"the benchmark {path} cannot be read",
            got=str(error)[:300],
            do="correct the file, or leave it out",
        ) from None


def strings(value: Any) -> Iterator[str]:
    """Yield every string of a value, at any depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
