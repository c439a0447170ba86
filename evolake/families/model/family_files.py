"""Families as folders: read what people write and what evolution makes, and write a family in the form in
which it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.errors import InputError, MachineryError
from evolake.families.model.contract import (
    ANSWER_TYPES,
    CATEGORIES,
    CHECKERS,
    GENERATOR,
    LANGUAGES,
    MAX_LABEL,
    MAX_SOURCE_BYTES,
    MAX_VALIDATORS,
    READER,
    TEMPLATE,
    VALIDATOR,
    VALIDATORS,
    Alternative,
    Answer,
    Family,
    Filterable,
    MutationPoint,
    Port,
    to_record,
)
from evolake.file_names import check_id, file_name
from evolake.reading import Unparsable, Unreadable, parse_toml, reason
from evolake.reading import read_text as bounded_text

SETTINGS, MUTATIONS = "family.toml", "mutations.toml"
SETTING_KEYS = {"id", "title", "category", "language", "parents", "operator", "answer"}
MUTATION_KEYS = {"points", "ports", "filterables"}
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def read_families(folder: Path) -> list[Family]:
    """Return every family below `folder`, one per sub-folder that holds a generator.py, by name.

    Raises:
        InputError: none there, one that cannot be read, two of one name or of one content.
    """
    folders = [path.parent for path in sorted(folder.glob(f"*/{GENERATOR}"))]
    if not folders:
        raise InputError(
            f"no families in {folder}",
            wanted=f"sub-folders with {GENERATOR}, {TEMPLATE} and {VALIDATOR}",
            do="check the path",
        )
    return families_in(folders)


def families_in(folders: Iterable[Path]) -> list[Family]:
    """Return the family in each of the folders. Raises InputError if one cannot be read, or two have one name
    or one content."""
    families = [read_family(folder) for folder in folders]
    for what, of in (("name", lambda family: family.name), ("content", lambda family: family.family_id)):
        seen: dict[str, Family] = {}
        for family in families:
            if other := seen.get(of(family)):
                raise InputError(
                    f"families {other.name!r} and {family.name!r} have one {what}",
                    do="change or remove one of them",
                )
            seen[of(family)] = family
    return families


def id_of(folder: Path) -> str:
    """Return the id of a family that names none: its folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "family"


def read_family(folder: Path) -> Family:
    """Return the family in `folder`.

    Raises:
        InputError: a file is missing, cannot be read, or declares what the contract does not know.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"no family at {folder}", wanted="a folder", do="check the path")
    settings = read_toml(folder / SETTINGS, SETTING_KEYS)
    mutations = read_toml(folder / MUTATIONS, MUTATION_KEYS)
    validators, checkers = (
        {path.stem: read_text(path) for path in sorted((folder / name).glob("*.py"))}
        for name in (VALIDATORS, CHECKERS)
    )
    where = str(folder)
    name = id_of(folder)
    if "id" in settings:
        name = check_id(
            f"{where}/{SETTINGS}",
            settings["id"],
            do="correct `id`, or leave it out: the folder's name is used then",
        )
    return make_family(
        where,
        UncheckedFamily(
            name=name,
            title=str(settings.get("title") or name),
            category=settings.get("category", "other"),
            language=settings.get("language", "en"),
            generator=read_text(folder / GENERATOR),
            template=read_text(folder / TEMPLATE),
            validator=read_text(folder / VALIDATOR),
            validators=validators,
            reader=read_text(folder / READER) if (folder / READER).exists() else None,
            answer=settings.get("answer", {}),
            parents=settings.get("parents", []),
            operator=str(settings.get("operator", "seed")),
            mutations=mutations,
            checkers=checkers,
        ),
    )


@dataclass(frozen=True)
class UncheckedFamily:
    """What a file or a reply says of a family. mutations: points, ports and filterables, as MUTATIONS has
    them."""

    name: str
    title: str
    category: Any
    language: Any
    generator: str
    template: str
    validator: str
    validators: Mapping[str, str]
    reader: str | None
    answer: Any
    parents: Any
    operator: str
    mutations: Mapping[str, Any]
    checkers: Mapping[str, str] = field(default_factory=dict)


def make_family(where: str, unchecked: UncheckedFamily) -> Family:
    """Return a family from its parts, which are checked; `where` names the place in errors. Raises
    InputError."""
    category, language, answer, parents = (
        unchecked.category,
        unchecked.language,
        unchecked.answer,
        unchecked.parents,
    )
    validators, checkers = unchecked.validators, unchecked.checkers
    if category not in CATEGORIES:
        raise InputError(f"{where}: category", wanted=f"one of {', '.join(CATEGORIES)}", got=repr(category))
    if language not in LANGUAGES:
        raise InputError(f"{where}: language", wanted=f"one of {', '.join(LANGUAGES)}", got=repr(language))
    if (
        not isinstance(answer, dict)
        or set(answer) - {"type", "case_sensitive"}
        or answer.get("type", "any") not in ANSWER_TYPES
    ):
        raise InputError(
            f"{where}: answer",
            wanted=f"type (one of {', '.join(ANSWER_TYPES)}) and case_sensitive",
            got=repr(answer),
        )
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise InputError(f"{where}: parents", wanted="a list of family ids", got=repr(parents))
    for kind, given in ((VALIDATORS, validators), (CHECKERS, checkers)):
        if not isinstance(given, Mapping) or not all(isinstance(source, str) for source in given.values()):
            raise InputError(
                f"{where}: {kind}", wanted="a table of names with sources", got=repr(given)[:200]
            )
        for source_name in given:
            if not NAME.match(source_name) or source_name == "primary":
                wanted = "lower-case letters, digits and _; not 'primary'"
                raise InputError(f"{where}: {kind[:-1]} {source_name!r}", wanted=wanted, do="rename the file")
        if len(given) > MAX_VALIDATORS:
            raise InputError(
                f"{where}: {len(given)} independent {kind}",
                wanted=f"at most {MAX_VALIDATORS}",
                do="leave some out",
            )
    if both := sorted(set(validators) & set(checkers)):
        raise InputError(
            f"{where}: a validator and a checker are called {both[0]!r}",
            wanted="each name once",
            do="rename one of the files",
        )
    family = Family(
        name=unchecked.name,
        title=unchecked.title,
        category=category,
        language=language,
        generator=_tidy(unchecked.generator),
        template=_tidy(unchecked.template),
        validator=_tidy(unchecked.validator),
        validators={key: _tidy(source) for key, source in validators.items()},
        checkers={key: _tidy(source) for key, source in checkers.items()},
        reader=None if unchecked.reader is None else _tidy(unchecked.reader),
        answer=Answer(answer.get("type", "any"), bool(answer.get("case_sensitive", True))),
        parents=tuple(parents),
        operator=unchecked.operator,
        points=tuple(_point(where, item) for item in _tables(where, unchecked.mutations, "points")),
        ports=tuple(_port(where, item) for item in _tables(where, unchecked.mutations, "ports")),
        filterables=tuple(
            _filterable(where, item) for item in _tables(where, unchecked.mutations, "filterables")
        ),
    )
    check_text(where, to_record(family))
    for what, text in (("title", family.title), ("name", family.name), ("operator", family.operator)):
        if len(text) > MAX_LABEL:
            raise InputError(
                f"{where}: the {what} has {len(text)} characters",
                wanted=f"at most {MAX_LABEL}",
                do="shorten it",
            )
    for source_name, source in {**family.sources(), TEMPLATE: family.template}.items():
        if len(source.encode(errors="replace")) > MAX_SOURCE_BYTES:
            raise InputError(
                f"{where}: {source_name} is larger than {MAX_SOURCE_BYTES} bytes", do="shorten it"
            )
    for kind in (family.points, family.ports, family.filterables):
        names = [item.name for item in kind]
        if len(set(names)) != len(names) or not all(NAME.match(item) for item in names):
            raise InputError(
                f"{where}: names in {MUTATIONS}", wanted="lower-case names, each once", got=", ".join(names)
            )
    return family


def check_text(where: str, value: Any) -> None:
    """Raise InputError where a text of the value, at any depth, is one that no file, table or parser takes: a
    zero byte, half a surrogate pair."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and (match := UNWRITABLE.search(item)):
            raise InputError(
                f"{where}: a character that cannot be written",
                wanted="Unicode text without zero bytes",
                got=repr(match[0]),
            )


def read_text(path: Path) -> str:
    """Return the text of a file. Raises InputError when it is not there or no UTF-8."""
    try:
        return bounded_text(path)
    except FileNotFoundError:
        raise InputError(
            f"no file {path.name} in {path.parent}",
            wanted=f"{GENERATOR}, {TEMPLATE} and {VALIDATOR}",
            do="add the file",
        ) from None
    except (OSError, Unreadable) as error:
        raise InputError(
            f"{path} cannot be read", got=reason(error), do="give a readable file in UTF-8"
        ) from None


def read_toml(path: Path, known: set[str]) -> dict[str, Any]:
    """Return a TOML file with only known keys, {} if there is none. Raises InputError."""
    if not path.exists():
        return {}
    try:
        result = parse_toml(read_text(path), name=str(path))
    except Unparsable as error:
        raise InputError(f"{path} is no TOML", got=error.got, do="correct the file") from None
    if unknown := sorted(set(result) - known):
        raise InputError(
            f"{path}: unknown key {unknown[0]!r}", wanted=", ".join(sorted(known)), do="remove or rename it"
        )
    return result


def _tidy(text: str) -> str:
    """One form for texts that differ in line ends and final blank lines only."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip() + "\n"


def _tables(where: str, mutations: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    result = mutations.get(key, [])
    if not isinstance(result, list) or not all(
        isinstance(item, dict) and isinstance(item.get("name"), str) for item in result
    ):
        raise InputError(f"{where}: {key} in {MUTATIONS}", wanted=f"[[{key}]] tables, each with a name")
    return result


def _point(where: str, item: dict[str, Any]) -> MutationPoint:
    place = f"{where}: point {item['name']!r}"
    given = item.get("alternatives", [])
    try:
        alternatives = tuple(
            Alternative(
                str(entry["name"]), str(entry["text"]), str(entry["code"]), dict(entry.get("codes", {}))
            )
            for entry in given
        )
        chosen = str(item["chosen"])
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{place} lacks {error}", wanted="chosen, and alternatives with name, text and code"
        ) from None
    if chosen not in [element.name for element in alternatives] or len(
        {element.name for element in alternatives}
    ) != len(alternatives):
        raise InputError(
            f"{place}: chosen",
            wanted=f"one of {', '.join(element.name for element in alternatives)}, names once each",
            got=chosen,
        )
    if len({alternative.text for alternative in alternatives}) != len(alternatives):
        raise InputError(
            f"{place}: two alternatives have one text",
            do="word each rule so that a reader can tell them apart",
        )
    return MutationPoint(item["name"], alternatives, chosen)


def _path(where: str, value: Any) -> tuple[str, ...]:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts or not all(isinstance(part, str) for part in parts):
        raise InputError(f"{where}: key", wanted="a name or a list of names", got=repr(value))
    return tuple(parts)


def _port(where: str, item: dict[str, Any]) -> Port:
    place = f"{where}: port {item['name']!r}"
    slot, low, high = item.get("slot"), item.get("low"), item.get("high")
    if type(slot) is not int or type(low) is not int or high is None:
        raise InputError(
            place,
            wanted="key, slot and low (integers), high (an integer or the key of an integer or list)",
            got=repr(item),
        )
    return Port(
        item["name"],
        _path(place, item.get("key")),
        slot,
        low,
        high if type(high) is int else _path(place, high),
    )


def _filterable(where: str, item: dict[str, Any]) -> Filterable:
    place = f"{where}: filterable {item['name']!r}"
    known = {"name", "key", "noun", "quantity", "field", "min_length", "together"}
    if (
        set(item) - known
        or not item.get("noun")
        or not item.get("quantity")
        or type(item.get("min_length", 1)) is not int
    ):
        raise InputError(
            place,
            wanted=(
                f"keys among {', '.join(sorted(known))}; noun and quantity are words, min_length an integer"
            ),
            got=repr(item),
        )
    return Filterable(
        item["name"],
        _path(place, item.get("key")),
        str(item["noun"]),
        str(item["quantity"]),
        item.get("field"),
        item.get("min_length", 1),
        tuple(_path(place, path) for path in item.get("together", [])),
    )


def write_family(family: Family, folder: Path) -> None:
    """Write the family into `folder`, which must be missing.

    Raises:
        MachineryError: what was written does not read as the same family again.
    """
    for name, text in {TEMPLATE: family.template, **family.sources()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    record = to_record(family)
    own = {
        "id": file_name(family.name).replace("~", "-"),
        **{key: record[key] for key in ("title", "category", "language", "parents", "operator")},
    }
    (folder / SETTINGS).write_text(_table(own) + f"\n[answer]\n{_table(record['answer'])}", encoding="utf-8")
    declared = [(key, item) for key in ("points", "ports", "filterables") for item in record[key]]
    if declared:
        (folder / MUTATIONS).write_text(
            "\n".join(f"[[{key}]]\n{_table(item)}" for key, item in declared), encoding="utf-8"
        )
    if read_family(folder).family_id != family.family_id:
        raise MachineryError(
            f"the family {family.family_id} cannot be written as a folder",
            wanted="the same content read again",
            got="another",
        )


def _table(values: dict[str, Any]) -> str:
    """Lines of a TOML table; what is None is left out."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in values.items() if value is not None)


def _value(value: Any) -> str:
    """Return a value on one line, as TOML."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{_value(key)} = {_value(item)}" for key, item in value.items() if item is not None)
            + "}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
