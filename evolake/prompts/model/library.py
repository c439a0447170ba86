"""The principle library and the root prompts: what the operators backend edits with, and what evolution
starts from.

Both are data, `library.json` and `roots.json` in the folder `prompts` of the seeds. An entry is one piece of
advice in versions of growing strictness with the symptoms that it answers; a merge is one text for two
entries. Operators know a principle of a prompt by its text, so a principle that a model wrote is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.prompts.model.prompt import Hunk, SystemPrompt, prompt_of, tidy
from evolake.reading import parse_json, read_text, reason

SYMPTOMS = ("empty", "unanswered", "truncated", "buried", "near", "wrong", "long", "short")
"""What can be seen of a failed reply without understanding it; `roles_reflection` says how each is shown."""


@dataclass(frozen=True)
class LibraryEntry:
    """One piece of advice. versions: texts, each stricter than the one before."""

    name: str
    symptoms: tuple[str, ...]
    versions: tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """One text that says what two entries say."""

    of: tuple[str, str]
    text: str


@dataclass(frozen=True)
class PrincipleLibrary:
    """Entries by name, and merges."""

    entries: tuple[LibraryEntry, ...]
    merges: tuple[Merge, ...] = ()

    def names_of(self, text: str) -> tuple[str, ...]:
        """Return the entries that a principle's text speaks for: one, two for a merge, none for a text that
        is not of the library."""
        wanted = tidy(text)
        for merge in self.merges:
            if merge.text == wanted:
                return merge.of
        return tuple(entry.name for entry in self.entries if wanted in entry.versions)

    def stricter(self, text: str) -> str | None:
        """Return the next version of a principle; None for the last one and for texts that are not of the
        library."""
        for entry in self.entries:
            if text in entry.versions[:-1]:
                return entry.versions[entry.versions.index(text) + 1]
        return None

    def offers(self, prompt: SystemPrompt) -> list[tuple[Hunk, ...]]:
        """Return the edits of a prompt that the library knows, each as one diff: an entry that it lacks, a
        principle less, all missing entries together."""
        names = {name for text in prompt.texts for name in self.names_of(text)}
        adds = [Hunk("add", text=entry.versions[0]) for entry in self.entries if entry.name not in names]
        drops = [Hunk("drop", (name,)) for name in prompt.ids] if len(prompt.ids) > 1 else []
        return [*((hunk,) for hunk in (*adds, *drops)), *([tuple(adds)] if len(adds) > 1 else [])]

    def stricter_offers(self, prompt: SystemPrompt) -> list[tuple[Hunk, ...]]:
        """Return one diff for each principle that the library has a stricter version of."""
        texts = [(item.id, self.stricter(item.text)) for item in prompt.principles]
        return [(Hunk("modify", (name,), text),) for name, text in texts if text]

    def answering(self, symptom: str) -> list[LibraryEntry]:
        """Return the entries that answer a symptom."""
        return [entry for entry in self.entries if symptom in entry.symptoms]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return it as the requests of roles carry it; `library_of` reads it back."""
        return [
            *(
                {"name": entry.name, "symptoms": list(entry.symptoms), "versions": list(entry.versions)}
                for entry in self.entries
            ),
            *({"of": list(merge.of), "text": merge.text} for merge in self.merges),
        ]


def library_of(rows: Iterable[Mapping[str, Any]]) -> PrincipleLibrary:
    """Return the library of `to_rows`.

    Raises:
        InputError: an entry without versions, with an unknown symptom or a name that is taken; a merge of
            anything but two entries.
    """
    entries, merges = [], []
    for row in rows:
        try:
            if "of" in row:
                merges.append(Merge((str(row["of"][0]), str(row["of"][1])), tidy(row["text"])))
            else:
                entries.append(
                    LibraryEntry(
                        str(row["name"]),
                        tuple(row["symptoms"]),
                        tuple(tidy(text) for text in row["versions"]),
                    )
                )
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise InputError(
                "an entry of the principle library cannot be read", got=f"{row}: {error!r}"
            ) from None
    names = [entry.name for entry in entries]
    texts = [text for entry in entries for text in entry.versions] + [merge.text for merge in merges]
    faults = [
        *(f"{entry.name} has no versions" for entry in entries if not entry.versions),
        *(
            f"{entry.name} answers {symptom!r}"
            for entry in entries
            for symptom in entry.symptoms
            if symptom not in SYMPTOMS
        ),
        *(f"{name} is there twice" for name in set(names) if names.count(name) > 1),
        *(
            f"a merge of {' and '.join(merge.of)}"
            for merge in merges
            if len(set(merge.of)) != 2 or not set(merge.of) <= set(names)
        ),
        *(f"the text {text!r} is there twice" for text in set(texts) if texts.count(text) > 1),
        *("an empty text" for text in texts if not text),
    ]
    if faults:
        raise InputError(
            "the principle library contradicts itself",
            wanted=f"symptoms of {', '.join(SYMPTOMS)}; texts and names once",
            got=faults[0],
        )
    return PrincipleLibrary(tuple(entries), tuple(merges))


def load_library(folder: Path) -> PrincipleLibrary:
    """Return the library in `library.json` of a folder. Raises InputError where it is missing or wrong."""
    value = _read(Path(folder) / "library.json")
    return library_of([*value.get("entries", []), *value.get("merges", [])])


def load_roots(folder: Path) -> dict[str, SystemPrompt]:
    """Return name -> root prompt, in the order of `roots.json` of a folder, then of the files in its folder
    `roots`. E-SPL starts from one; an empty list of principles is the empty prompt.

    Raises:
        InputError: the file is missing, holds no root, holds one twice, or something else than lists of
            texts.
    """
    return roots_in(root_files(folder))


def roots_in(files: Sequence[Path]) -> dict[str, SystemPrompt]:
    """Return name -> root prompt of several files. Raises InputError as `load_roots` does."""
    path, *others = files
    result = read_roots(path)
    for other in others:
        more = read_roots(other)
        if twice := sorted(set(result) & set(more)):
            raise InputError(
                f"two root prompts are called {twice[0]!r}",
                wanted="each name once",
                got=f"{path.name} and {other}",
                do="rename one",
            )
        result |= more
    if len({prompt.prompt_id for prompt in result.values()}) < len(result):
        raise InputError(
            "two root prompts are the same", wanted=f"each once in {path}", got=", ".join(result)
        )
    return result


def root_files(folder: Path) -> list[Path]:
    """Return the files of root prompts, `roots.json` of the folder first."""
    return [Path(folder) / "roots.json", *sorted((Path(folder) / "roots").glob("*.json"))]


def read_roots(path: Path) -> dict[str, SystemPrompt]:
    """Return name -> root prompt of one file. Raises InputError."""
    roots = _read(path)
    if not roots or not all(
        isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in roots.values()
    ):
        raise InputError(
            f"{path.name} holds no root prompts", wanted=f"an object of names with lists of texts at {path}"
        )
    return {name: prompt_of(texts) for name, texts in roots.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        value = parse_json(read_text(path), name=path.name)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot read {path.name} of the prompts line",
            wanted=f"a JSON object at {path}",
            got=reason(error),
        ) from None
    if not isinstance(value, dict):
        raise InputError(
            f"{path.name} is no JSON object", wanted=f"an object at {path}", got=type(value).__name__
        )
    return value
