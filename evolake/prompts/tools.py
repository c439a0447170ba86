"""The tools that a policy has: what it is shown of each (a name, one sentence that shows a call), and what
comes of its calls, texts for texts.

`python` runs programs of a policy, each in its own process in the jail, behind a canary, without network,
files or further processes: no person has read them.

`search` gives the passages of a local corpus (a folder of texts, or JSON lines with one document a row) that
fit a query best by BM25 (Robertson and Zaragoza 2009; k1 = 1.2, b = 0.75). The index is SQLite's FTS5, in
memory: words are cut to their stems, accents and case do not count. A document is indexed in passages of
PASSAGE words, as retrieval for question answering does (Karpukhin et al. 2020).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evolake.errors import InputError, MachineryError
from evolake.jail import Call, Limits, Outcome, open_pool
from evolake.jail.patience import map_patiently
from evolake.prompts.model.protocol import MALFORMED, UNKNOWN, read_call
from evolake.prompts.settings import PromptsSettings
from evolake.reading import DATA_BYTES, Unparsable, parse_json, read_text, reason

if TYPE_CHECKING:
    from evolake.settings import Settings


@dataclass(frozen=True)
class Answered:
    """status: "ok", or the tool's word for what went wrong. text: for the policy, of any length and with any
    characters."""

    status: str
    text: str


class Tool(Protocol):
    """One tool. name: as a call names it. says: what the policy is shown about it, with an example of a
    call."""

    name: str
    says: str

    def answer(self, given: Sequence[str]) -> list[Answered]:
        """Return what came of each of these calls, in their order. A bad call is an answer that says so; only
        machinery raises."""
        ...

    def close(self) -> None:
        """Let go of what the tool holds."""
        ...


DRIVER = "evolake.prompts.python_tool_inside:run"
PRELOAD = (
    "evolake.prompts.python_tool_inside",
    "collections",
    "datetime",
    "decimal",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "numpy",
    "random",
    "re",
    "statistics",
    "string",
)
"""What a program can import at no cost; the rest of the standard library, and what is installed with evolake,
can be imported too."""
LIMITS = Limits(cpu_s=5, wall_s=20, memory_mb=512, output_bytes=200_000)
NOTHING_PRINTED = "(the program printed nothing)"


class Python:
    """The interpreter. workers: programs that run at the same time. mode: of the jail.

    Raises:
        JailUnavailable: this machine cannot build the jail, or its canary does not hold.
    """

    name = "python"
    says = "<tool>python print(6 * 7)</tool> runs a Python program and shows what it prints."

    def __init__(self, workers: int, mode: str | None, limits: Limits = LIMITS):
        self._limits, self._pool = limits, open_pool(workers, PRELOAD, mode)

    def answer(self, given: Sequence[str]) -> list[Answered]:
        """Return what the programs printed. An error, or a limit that was met, is the status and is in the
        text. Raises HostBusy."""
        calls = [Call(DRIVER, source, None, self._limits) for source in given]
        return [_tool_reply(outcome) for outcome in map_patiently(self._pool, calls, "a program of a policy")]

    def close(self) -> None:
        """Stop the workers."""
        self._pool.close()


def _tool_reply(outcome: Outcome) -> Answered:
    printed = outcome.stdout.rstrip()
    if outcome.status == "ok":
        return Answered("ok", printed or NOTHING_PRINTED)
    said = outcome.reason if outcome.status == "error" else f"{outcome.status}: {outcome.reason}"
    return Answered(outcome.status, f"{printed}\n{said}".lstrip())


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


class Called(NamedTuple):
    """A call as it was read, with the tool's answer. tool: "" if no name can be read."""

    tool: str
    given: str
    answered: Answered


class Toolbox:
    """Tools by their names. Close it, or use it as a context manager.

    Args:
        tools: at least one. most_calls: of one reply. most_tokens: of one result, its marks included.
    """

    def __init__(self, tools: Sequence[Tool], *, most_calls: int, most_tokens: int):
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.most_calls, self.most_tokens = most_calls, most_tokens

    def __enter__(self) -> Toolbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all tools."""
        for tool in self._tools.values():
            tool.close()

    def description(self) -> str:
        """Return what the policy is shown. It is after the problem, in the user's message: the system's holds
        the evolved prompt and nothing else."""
        times = "once" if self.most_calls == 1 else f"up to {self.most_calls} times"
        head = (
            f"You may use a tool, {times}: write a call in exactly this form and stop. Its result follows "
            "between <result> and </result>."
        )
        return "\n".join([head, *(tool.says for tool in self._tools.values())])

    def answer(self, turns: Sequence[str]) -> list[Called]:
        """Return what came of the call that ends each of these texts of a policy, in their order."""
        read = [read_call(turn) for turn in turns]
        answers: dict[int, Answered] = {}
        for name, tool in self._tools.items():
            places = [
                place for place, call in enumerate(read) if not isinstance(call, str) and call[0] == name
            ]
            if places:
                answers |= zip(places, tool.answer([read[place][1] for place in places]), strict=True)
        return [
            Called("", "", Answered(MALFORMED, f"no call: {call}"))
            if isinstance(call, str)
            else Called(
                *call,
                answers.get(place)
                or Answered(UNKNOWN, f"no tool {call[0]}, only {' and '.join(self._tools)}"),
            )
            for place, call in enumerate(read)
        ]


def check_tools(own: PromptsSettings) -> None:
    """Whether the tools of the settings can be given to their policy; reads no document.

    Raises:
        InputError: they cannot, and why.
    """
    if own.tools and own.policy == "endpoint":
        raise InputError(
            "a policy behind an endpoint cannot use tools here",
            wanted="a policy on this machine",
            got=f"EVOLAKE_PROMPTS__TOOLS={','.join(own.tools)} with EVOLAKE_PROMPTS__POLICY=endpoint",
            do="set EVOLAKE_PROMPTS__POLICY=local, or unset EVOLAKE_PROMPTS__TOOLS",
        )
    if "search" not in own.tools:
        if own.corpus is not None:
            raise InputError(
                f"{VARIABLE} is set and no tool searches it",
                wanted="`search` among EVOLAKE_PROMPTS__TOOLS",
                got=", ".join(own.tools) or "no tool",
                do=f"""set EVOLAKE_PROMPTS__TOOLS='["search"]', or unset {VARIABLE}""",
            )
        return
    if own.corpus is None:
        raise InputError(
            "the tool `search` has no corpus",
            wanted=WANTED,
            got=f"{VARIABLE} is not set",
            do=f"set {VARIABLE}, or leave `search` out of the tools",
        )
    corpus_files(own.corpus)


def open_toolbox(settings: Settings) -> Toolbox | None:
    """Return the tools that the settings name; None where they name none.

    Raises:
        InputError: as `check_tools` and `read_corpus`. JailUnavailable: `python` is among them, and no jail
            holds here.
    """
    own = settings.of(PromptsSettings)
    check_tools(own)
    if not own.tools:
        return None
    tools: list[Tool] = []
    if own.corpus is not None:
        tools.append(Search(read_corpus(own.corpus)))
    if "python" in own.tools:
        tools.insert(0, Python(settings.workers, settings.jail))
    return Toolbox(tools, most_calls=own.tool_turns, most_tokens=own.tool_tokens)


def corpus_of(own: PromptsSettings) -> str | None:
    """Return sha256 of the corpus that a policy with these settings searches; None for one that searches
    none. Raises InputError as `read_corpus`."""
    return corpus_sha(read_corpus(own.corpus)) if "search" in own.tools and own.corpus is not None else None


PASSAGE = 100
"""Words of a passage."""
SHOWN = 3
"""Passages that one search shows."""
MOST_WORDS = 64
"""Words of a query that count."""
NOTHING_FOUND = "(nothing was found)"
_WORD = re.compile(r"[^\W_]+")


class Search:
    """The index of some documents.

    Raises:
        MachineryError: this Python's SQLite was built without FTS5.
    """

    name = "search"
    says = (
        "<tool>search height of Mont Blanc</tool> shows the passages of a library that fit these words best."
    )

    def __init__(self, documents: Iterable[Document]):
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            self._index.execute(
                "CREATE VIRTUAL TABLE passages USING fts5(title, text, tokenize = 'porter unicode61 "
                "remove_diacritics 2')"
            )
        except sqlite3.OperationalError as error:
            raise MachineryError(
                "this Python cannot search a corpus",
                wanted="SQLite with FTS5",
                got=f"SQLite {sqlite3.sqlite_version}: {error}",
                do="use a Python whose sqlite3 has it, or leave `search` out of EVOLAKE_PROMPTS__TOOLS",
            ) from None
        rows = ((document.title, passage) for document in documents for passage in passages(document.text))
        self._index.executemany("INSERT INTO passages VALUES (?, ?)", rows)
        self._index.commit()

    def answer(self, given: Sequence[str]) -> list[Answered]:
        """Return the best passages of each query, numbered; those of equal rank in the order of the
        corpus."""
        return [self._found(query) for query in given]

    def close(self) -> None:
        """Forget the index."""
        self._index.close()

    def _found(self, query: str) -> Answered:
        words = list(itertools.islice(dict.fromkeys(_WORD.findall(query.casefold())), MOST_WORDS))
        if not words:
            return Answered("error", "the query has no word")
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._index.execute(
            "SELECT title, text FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?",
            (match, SHOWN),
        ).fetchall()
        shown = [
            f"[{number}] {title}: {text}" if title else f"[{number}] {text}"
            for number, (title, text) in enumerate(rows, 1)
        ]
        return Answered("ok", "\n".join(shown) or NOTHING_FOUND)


def passages(text: str) -> Iterator[str]:
    """Yield the text in pieces of PASSAGE words."""
    words = text.split()
    for start in range(0, len(words), PASSAGE):
        yield " ".join(words[start : start + PASSAGE])
