"""Export the data set as trainers take it, with its reward.

    jsonl    text, hidden inputs, answer, difficulty, seed; and the families themselves, in splits or not
    trl      prompt (messages), answer, case_sensitive, units, category, difficulty, ids
    verl     data_source, prompt, answer, ability, reward_model, extra_info
    verifiers, reasoning-gym    a package with the columns of trl in JSON lines, the prompt as a text: a
             taskset of verifiers (v1), or datasets that it registers with reasoning-gym

Each form is a folder with a card and, for the trainers, the reward function. A text occurs once. Splits are
by lineage and mechanics: no family of the test split has an ancestor that a family of the training split has,
or one with the same engine or the same code in other dress.

The reward is one file of standard-library Python, put together from the sources of `evolake.answers`, so that
training rewards exactly what the gates call equal. It never evaluates text. TRL calls `reward(completions,
answer, ...)`; verl calls `compute_score(data_source, solution_str, ground_truth, extra_info)`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import polars as pl

from evolake.answers.asking import answer_forms, request
from evolake.answers.forms import asked_units
from evolake.errors import InputError
from evolake.families.dataset.datasets import TITLE, Provenance, card
from evolake.families.model.contract import as_json, from_record
from evolake.lake.population import held
from evolake.program_templates import fill_template, load_template

HEAD = '''"""Reward of a data set of verifiable task families: 1.0 where the last \\\\boxed{...} of a reply is the label, else 0.0.

Standard library only. Replies are parsed, never evaluated, in time proportional to their length.

    TRL     GRPOTrainer(reward_funcs=reward, ...): columns `answer` (JSON text) and, where they matter, `case_sensitive` and `units`
    verl    custom_reward_function.path=reward.py, custom_reward_function.name=compute_score
"""

from __future__ import annotations

import json
'''  # noqa: E501
ENTRIES = "evolake.families.dataset.templates.reward"
"""What TRL and verl call."""
_OWN = re.compile(r"^from (?:__future__|evolake[\w.]*) import [^\n]*\n", re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:"""|\'\'\').*?(?:"""|\'\'\')\n', re.DOTALL)
_IMPORTS = re.compile(r"^(?:import|from) [^\n]*\n", re.MULTILINE)


def reward_source(checkers: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the text of reward.py. checkers: family_id -> sources, of the families whose questions have many
    correct answers."""
    bodies, entries = [], load_template(ENTRIES)
    modules = ["reading.py", "mathematics.py", "units.py", "quantities.py", "forms.py", "matching.py"]
    if checkers:
        modules.append("values.py")
        entries += fill_template(
            "evolake.families.dataset.templates.checked", checkers=repr(json.dumps(checkers))
        )
    for name in modules:
        text = (resources.files("evolake.answers") / name).read_text(encoding="utf-8")
        bodies.append(_OWN.sub("", _DOCSTRING.sub("", text, count=1)))
    imports = sorted(
        {line for body in bodies for line in _IMPORTS.findall(body)},
        key=lambda line: (line.startswith("from"), line),
    )
    return (
        HEAD
        + "".join(imports)
        + "\n"
        + "\n\n".join(_IMPORTS.sub("", body).strip("\n") + "\n" for body in bodies)
        + entries
    )


Form = Literal["jsonl", "trl", "verl", "verifiers", "reasoning-gym"]
CARD, REWARD, INSTANCES_FILE, FAMILIES_FILE = "README.md", "reward.py", "instances.jsonl", "families.jsonl"
SPLITS = ("train", "test")
WRITTEN = {CARD, REWARD, INSTANCES_FILE, FAMILIES_FILE} | {
    f"{split}.{suffix}" for split in SPLITS for suffix in ("parquet", "jsonl")
}
PACKAGE = "evolake_families"
PACKAGES = {"verifiers": "verifiers_taskset.py.j2", "reasoning-gym": "gym_datasets.py.j2"}
"""Form that is a package, and the package that it is for -> the text of its module, without places."""
PROJECT = """[project]
name = "evolake-families"
version = "0.1"
description = "Verifiable task families, exported by evolake"
requires-python = ">=3.11"
dependencies = ["{needs}"]

[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["evolake_families"]

[tool.setuptools.package-data]
evolake_families = ["*.jsonl"]
"""
WRITTEN |= {"pyproject.toml"} | {
    f"{PACKAGE}/{name}" for name in ("__init__.py", REWARD, *(f"{split}.jsonl" for split in SPLITS))
}
DATA_SOURCE = "evolake/families"
NEITHER = "neither"
CHECKED = "checked"
"""Key under which a row carries its columns `checker` and `inputs`."""


def write_dataset(
    form: Form,
    rows: Sequence[Mapping[str, Any]],
    families: Sequence[Mapping[str, Any]],
    folder: Path,
    made_by: Provenance,
    *,
    test_share: float = 0.0,
    units: Mapping[str, Collection[str]] | None = None,
) -> dict[str, int]:
    """Write the data set below `folder`; gives split -> instances, and under "neither" how many have units of
    both sides and are left out.

    Args:
        rows: columns of INSTANCES and `operator`. families: records of `contract.to_record`; written for
            "jsonl", their checkers into reward.py.
        test_share: 0 to 1, of the units.
        units: family -> what a split keeps together of it (`datasets.units_of`); a family that is not named
            is its own unit.

    Raises:
        InputError: the folder holds something else, or a split would be empty. Nothing is written then.
    """
    kept = once(rows)
    splits: dict[str, list[Mapping[str, Any]]] = {"train": kept}
    left_out: list[Mapping[str, Any]] = []
    if test_share:
        splits, left_out = split_rows(kept, test_share, units or {})
        require_both(splits, left_out, test_share)
        kept = [row for members in splits.values() for row in members]
    clear(folder)
    forms = answer_forms(kept)
    checkers = {
        from_record(record).family_id: list(record["checkers"].values())
        for record in families
        if record.get("checkers")
    }
    splits = {
        split: [{**row, **_checked_by(row, checkers)} for row in members] for split, members in splits.items()
    }
    if form == "jsonl":
        for split, members in splits.items():
            write_lines(
                folder / (f"{split}.jsonl" if test_share else INSTANCES_FILE), [plain(row) for row in members]
            )
        write_lines(folder / FAMILIES_FILE, families)
    elif form in PACKAGES:
        (folder / PACKAGE).mkdir()
        for split, members in splits.items():
            converted = [trl_row(row, split, 0, forms.get(row["family_id"])) for row in members]
            converted = [row | {"prompt": row["prompt"][0]["content"]} for row in converted]
            write_lines(folder / PACKAGE / f"{split}.jsonl", converted)
        (folder / PACKAGE / REWARD).write_text(reward_source(checkers), encoding="utf-8")
        (folder / PACKAGE / "__init__.py").write_text(
            (Path(__file__).parent / "templates" / PACKAGES[form]).read_text(encoding="utf-8"),
            encoding="utf-8",
        )
        (folder / "pyproject.toml").write_text(PROJECT.format(needs=form), encoding="utf-8")
    else:
        convert = trl_row if form == "trl" else verl_row
        for split, members in splits.items():
            converted = [
                convert(row, split, number, forms.get(row["family_id"])) for number, row in enumerate(members)
            ]
            write_parquet(folder / f"{split}.parquet", converted)
        (folder / REWARD).write_text(reward_source(checkers), encoding="utf-8")
    counts = {split: len(members) for split, members in splits.items()}
    shared = shared_text(splits) if test_share else ""
    (folder / CARD).write_text(
        card(form, kept, made_by, counts, left_out=len(left_out), shared=shared, checked=set(checkers)),
        encoding="utf-8",
    )
    return counts | ({NEITHER: len(left_out)} if left_out else {})


def _checked_by(row: Mapping[str, Any], checkers: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Columns of a question of many correct answers: whose checkers judge, and the inputs that they need. {}
    if no family has checkers."""
    if not checkers:
        return {}
    own = row["family_id"] in checkers
    return {CHECKED: {"checker": row["family_id"] if own else "", "inputs": row["inputs"] if own else ""}}


def split_rows(
    rows: Sequence[Mapping[str, Any]], share: float, units: Mapping[str, Collection[str]]
) -> tuple[dict[str, list[Mapping[str, Any]]], list[Mapping[str, Any]]]:
    """Return (split -> its rows, the rows that are in neither)."""
    sides: dict[str, list[Mapping[str, Any]]] = {"train": [], "test": [], NEITHER: []}
    for row in rows:
        sides[side(row["family_id"], share, units)].append(row)
    return {split: sides[split] for split in SPLITS}, sides[NEITHER]


def require_both(
    splits: Mapping[str, Sequence[Any]], left_out: Sequence[Mapping[str, Any]], share: float
) -> None:
    """Raise InputError where a split is empty: a data set without a test split must not be taken for one with
    it."""
    empty = [split for split, members in splits.items() if not members]
    if empty:
        counts = ", ".join(f"{split}: {len(members)}" for split, members in splits.items())
        raise InputError(
            f"no family is of the split {empty[0]!r}",
            wanted=(
                f"families on both sides of a split by lineage and engine, {share:g} of these units for "
                "the test"
            ),
            got=f"{counts}, with units on both sides: {len({row['family_id'] for row in left_out})} families",
            do="choose another --test-share, or run more cycles: evolake run --lines families",
        )


def clear(folder: Path) -> None:
    """Make the folder, or take away what an earlier export left there. Raises InputError where it holds
    anything else: nothing is touched then."""
    folder.mkdir(parents=True, exist_ok=True)
    there = sorted(path for path in folder.rglob("*") if not path.is_dir())
    names = [path.relative_to(folder).as_posix() for path in there]
    folders = sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True)
    cached = re.compile(rf"({PACKAGE}/)?__pycache__/[\w.-]+\.pyc")  # of an import of the package
    strange = [name for name in names if name not in WRITTEN and not cached.fullmatch(name)] + [
        path.name for path in folders if not path.match(PACKAGE) and path.name != "__pycache__"
    ]
    if there and (
        strange or TITLE not in (folder / CARD).read_text(encoding="utf-8", errors="replace")
        if (folder / CARD).is_file()
        else True
    ):
        raise InputError(
            f"{folder} is not empty",
            wanted="a new folder, or that of an earlier export",
            got=", ".join(strange[:5]) or CARD,
        )
    for path in there:
        path.unlink()
    for path in folders:
        path.rmdir()


def once(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows without those whose text came before."""
    seen: set[str] = set()
    kept = []
    for row in rows:
        if row["text_sha"] not in seen:
            seen.add(row["text_sha"])
            kept.append(row)
    return kept


SHARED = ("category", "operator", "answer_type", "language", "engine")
"""What both sides of a split may share, by column; a report says how much of it they do."""


def shared_text(splits: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return what the sides of a split share: "5 of 6 categories (...)", a clause for each column of
    SHARED."""
    parts = []
    for column in SHARED:
        values = [
            {str(row[column]) for row in members if row.get(column) is not None}
            for members in splits.values()
        ]
        both, every = set.intersection(*values), set.union(*values)
        if every:
            named = f" ({', '.join(sorted(both))})" if both else ""
            parts.append(f"{len(both)} of {len(every)} values of {column}{named}")
    return "Both sides share " + "; ".join(parts) if parts else ""


def side(family_id: str, share: float, units: Mapping[str, Collection[str]]) -> str:
    """Return the split of a family: that of all its units, or NEITHER if they are of both."""
    result = held(family_id, units, lambda unit: in_test(unit, share))
    if result is None:
        return NEITHER
    if result:
        return "test"
    return "train"


def in_test(unit: str, share: float) -> bool:
    """Return whether a unit is of the test split. By its name alone: a later export never moves it."""
    return int(hashlib.sha256(f"split\x1f{unit}".encode()).hexdigest()[:12], 16) < share * 16**12


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one line of instances.jsonl: text, hidden inputs, answer, difficulty, seed, and where it comes
    from."""
    return {
        "id": row["instance_id"],
        "family_id": row["family_id"],
        "category": row["category"],
        "language": row["language"],
        "difficulty": row["difficulty"],
        "seed": row["seed"],
        "text": row["text"],
        "inputs": json.loads(row["inputs"]),
        "answer": json.loads(row["answer"]),
        "case_sensitive": row["case_sensitive"],
        "units": asked_units(row["text"]),
        "votes": row["votes"],
        "voters": row["voters"],
        **described(row),
    } | (
        {"checker": checked["checker"], "answer_is": "one correct answer"}
        if (checked := row.get(CHECKED, {})).get("checker")
        else {}
    )


DESCRIBED = ("title", "engine", "operator", "parents", "answer_type", "independent")
"""What an instance says of its family, next to its id, category and level (`difficulty`)."""
CHOSEN = ("solver", "solver_rate")
"""What it says in addition if it was chosen by a solver's share of right answers."""


def described(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of DESCRIBED, null where a row does not have one, and those of CHOSEN that it has."""
    chosen = {name: row[name] for name in CHOSEN if name in row}
    return {name: row.get(name) for name in DESCRIBED} | chosen


def prompt(row: Mapping[str, Any], form: type | None) -> list[dict[str, str]]:
    """Return the question as messages, with the request to box the answer, and what form it has where all
    answers of the family have one."""
    return [{"role": "user", "content": f"{row['text']}\n\n{request(row['language'], form)}"}]


def trl_row(row: Mapping[str, Any], split: str, number: int, form: type | None) -> dict[str, Any]:
    """answer: the label as JSON text, one type for all rows. units: those that the question asks for."""
    return {
        "prompt": prompt(row, form),
        "answer": row["answer"],
        "case_sensitive": row["case_sensitive"],
        "units": asked_units(row["text"]),
        "category": row["category"],
        "difficulty": row["difficulty"],
        "family_id": row["family_id"],
        "instance_id": row["instance_id"],
        **described(row),
    } | row.get(CHECKED, {})


def verl_row(row: Mapping[str, Any], split: str, number: int, form: type | None) -> dict[str, Any]:
    """reward_model.ground_truth: the label as JSON text."""
    return {
        "data_source": DATA_SOURCE,
        "prompt": prompt(row, form),
        "answer": row["answer"],
        "ability": row["category"],
        "reward_model": {"style": "rule", "ground_truth": row["answer"]},
        "extra_info": {
            "split": split,
            "index": number,
            "instance_id": row["instance_id"],
            "family_id": row["family_id"],
            "difficulty": row["difficulty"],
            "seed": row["seed"],
            "case_sensitive": row["case_sensitive"],
            "units": asked_units(row["text"]),
            "category": row["category"],
            **described(row),
        }
        | row.get(CHECKED, {}),
    }


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """One JSON object a line."""
    path.write_text("".join(as_json(record) + "\n" for record in records), encoding="utf-8")


def write_parquet(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write a table; if there is no record, a file of no columns."""
    pl.DataFrame(list(records), infer_schema_length=None).write_parquet(path)
