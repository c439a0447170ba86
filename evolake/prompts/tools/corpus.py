"""The corpus of the tool `search`: a folder of texts, or JSON lines with one document a row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.reading import DATA_BYTES, Unparsable, parse_json, read_text, reason

TEXTS, ROWS = (".txt", ".md"), ".jsonl"
CONTENTS, TITLES = ("text", "contents"), ("title", "id")
"""Keys of a row: the first that is there counts."""
WANTED = f"a folder with files {', '.join((*TEXTS, ROWS))}, or one such file"
VARIABLE = "EVOLAKE_PROMPTS__CORPUS"


@dataclass(frozen=True)
class Document:
    """One document."""

    title: str
    text: str


def corpus_files(place: str) -> list[Path]:
    """Return the files of a corpus, by name.

    Raises:
        InputError: there is no such file or folder, or no file in it that can be one of a corpus.
    """
    path = Path(place).expanduser()
    if path.is_dir():
        result = sorted(item for item in path.rglob("*") if item.suffix in (*TEXTS, ROWS) and item.is_file())
        if not result:
            raise InputError(
                f"the corpus {place} is empty", wanted=WANTED, got="no such file in it", do=f"fix {VARIABLE}"
            )
        return result
    if not path.is_file():
        raise InputError(
            f"there is no corpus at {place}", wanted=WANTED, got="no such file", do=f"fix {VARIABLE}"
        )
    if path.suffix not in (*TEXTS, ROWS):
        raise InputError(
            f"{place} cannot be read as a corpus",
            wanted=WANTED,
            got=path.suffix or "no ending",
            do=f"fix {VARIABLE}",
        )
    return [path]


def read_corpus(place: str) -> list[Document]:
    """Return the documents, in the order of the files and of their rows. A text's title is the name of its
    file.

    Raises:
        InputError: as `corpus_files`; a file that is no text, a row that is no document, or not one word in
            all of them.
    """
    path = Path(place).expanduser()
    result = [
        document
        for file in corpus_files(place)
        for document in _documents(file, path if path.is_dir() else path.parent)
    ]
    if not any(document.text.strip() for document in result):
        raise InputError(
            f"the corpus {place} is empty",
            wanted="a document with words",
            got=f"{len(result)} documents",
            do=f"fix {VARIABLE}",
        )
    return result


def corpus_sha(documents: list[Document]) -> str:
    """Return sha256 of the documents."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(json.dumps([document.title, document.text]).encode() + b"\n")
    return digest.hexdigest()


def _documents(file: Path, base: Path) -> Iterator[Document]:
    try:
        text = read_text(file, DATA_BYTES)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the document {file} cannot be read",
            wanted="text in UTF-8",
            got=reason(error),
            do=f"fix it, or {VARIABLE}",
        ) from None
    if file.suffix in TEXTS:
        yield Document(str(file.relative_to(base).with_suffix("")), text)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield _row(line, f"row {number} of {file}")


def _row(line: str, where: str) -> Document:
    try:
        row: Any = parse_json(line, name=where)
    except Unparsable as error:
        raise InputError(
            f"{where} is no document", wanted="a JSON object", got=(error.got or "")[:200], do="fix the file"
        ) from None
    keys = row if isinstance(row, dict) else {}
    text = next((keys[key] for key in CONTENTS if isinstance(keys.get(key), str)), None)
    if text is None:
        got = ", ".join(keys) or type(row).__name__
        raise InputError(
            f"{where} is no document",
            wanted=f"an object with a text in {' or '.join(CONTENTS)}",
            got=got[:200],
            do="fix the file",
        )
    return Document(next((str(keys[key]) for key in TITLES if keys.get(key) is not None), ""), text)
