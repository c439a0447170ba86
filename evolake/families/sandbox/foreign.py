"""Read families that come from elsewhere: data sets of reasoning-gym, tasks of other collections as drafts,
and records in JSON lines.

reasoning-gym's datasets (Stojanovski et al. 2025; `pip install evolake[reasoning-gym]`) take the form of the
contract, for data next to our own. They generate and verify only: their code is not ours to mutate, and a
family of one voter has no independent validators, so it stops at the consensus gate and never enters the
archive. Difficulty goes to the curriculum's level, the seed to the seed, and replies to the dataset's own
verifier. The library runs in the jail, as all does that reads a model's text with an evaluator.

Foreign tasks become drafts: their generator, their answer and their scorer.

    reasoning-gym:NAME    a data set of reasoning-gym with a curriculum
    FOLDER                Enigmata's shape: generator.py with `generate(count, difficulty, ...)`, verifier.py
                          with `verify(pred, answer, meta)`
    FOLDER                SynLogic's shape: a class with `generate` and `verify` (or a verifier) in a Python
                          file, mostly below `scripts/`

A draft has one hand behind it, so it is accepted only after independent validators, or checkers that only
compute, and a reader are added. Nothing of the task runs here; sources are parsed.

JSON lines have one record per line, in the form of the paper's pipeline; records that `to_record` wrote (a
key `generator`) are read as well.

    task_id             a name
    generator_code      def input(difficulty)
    validator_code      def solution(inputs)
    full_script         instead of the two: one script with both functions
    question_templates  a template, or a list of them, of which the first is used
    sample_question     kept for people to compare; not part of the family
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evolake.errors import InputError, MachineryError
from evolake.families.model.contract import MAX_SOURCE_BYTES, Answer, Family, from_record
from evolake.families.model.family_files import UncheckedFamily, check_text, id_of, make_family, read_text
from evolake.families.model.source_code import Unreadable, parse
from evolake.families.sandbox.running import PRELOAD, Caps, called, generate
from evolake.program_templates import fill_template, load_template
from evolake.reading import Unparsable, parse_json
from evolake.seeds import child_seed
from evolake.verifiers import external
from evolake.verifiers.external import DISTRIBUTION, GYM, LIBRARY, SCORER, require_library

EXTERNAL = "external"
LEVELS = 10
GYM_PRELOAD = (*PRELOAD, *external.GYM_PRELOAD)
"""What a pool for external families should preload: the library takes seconds to import."""
GYM_CAPS = Caps(cpu_s=10.0, call_s=120.0, memory_mb=2048)
"""Importing the library alone takes a second and 200 MB; single entries of the largest level take seconds."""
VALIDATOR = """def solution(inputs):
    return inputs["answer"] if isinstance(inputs, dict) and "answer" in inputs else {"status": "schema_error", "detail": "answer"}
"""  # noqa: E501


def external_names(pool: Any) -> list[str]:
    """Return the datasets that can be adapted: those with a curriculum. Raises InputError without the
    library, MachineryError when the jail failed."""
    require_library()
    outcome = called(pool, f"{GYM}:listing", "", {}, GYM_CAPS)
    if outcome.status != "ok":
        raise MachineryError(
            "reasoning-gym cannot be loaded in the jail",
            got=f"{outcome.status}: {outcome.reason}",
            do="install the extra again",
        )
    return outcome.value


def external_family(name: str) -> Family:
    """Return the dataset as a family. Its answer, the dataset's own, is among the hidden inputs. Generate it
    with `GYM_CAPS` and a pool of `GYM_PRELOAD`.
    """
    generator = fill_template("evolake.families.sandbox.templates.external_generator", name=repr(name))
    return Family(
        name=f"gym-{name.replace('_', '-')}",
        title=f"reasoning-gym: {name}",
        category="other",
        language="en",
        generator=generator,
        template="[Input Slot 1]\n",
        validator=VALIDATOR,
        answer=Answer("string"),
        operator=EXTERNAL,
    )


def external_rows(names: Sequence[str], each: int, *, pool: Any, root_seed: int) -> list[dict[str, Any]]:
    """Return `each` instances of every dataset, difficulties 1 to 10 in turn: dataset, difficulty, seed,
    text, answer, verifier, and for who evaluates on them scorer and entry. What could not be made in time is
    left out. Raises MachineryError when the jail failed.
    """
    rows = []
    for name in names:
        pairs = [
            (number % LEVELS + 1, child_seed(root_seed, "families", name, EXTERNAL, number))
            for number in range(each)
        ]
        made = generate(external_family(name), pairs, pool=pool, caps=GYM_CAPS)
        rows += [
            {
                "dataset": name,
                "difficulty": item.difficulty,
                "seed": item.inputs["seed"],
                "text": item.text,
                "answer": item.inputs["answer"],
                "verifier": f"{LIBRARY} {version(DISTRIBUTION)}: {name}.score_answer",
                "scorer": SCORER,
                "entry": {"dataset": name, "seed": item.inputs["seed"], "difficulty": item.difficulty},
            }
            for item in made
            if item.status == "ok"
        ]
    return rows


OF_GYM = "reasoning-gym:"
IMPORTED = "import"
MOST_FILES = 40
_TEMPLATES = "evolake.families.sandbox.templates"
SHAPES = (
    f"{OF_GYM}NAME, a folder with generator.py (`generate`) and verifier.py (`verify`), or a folder with a "
    "class that has `generate` and `verify`"
)


def gym_task(name: str) -> Family:
    """Return a data set of reasoning-gym as a draft with its scorer."""
    return replace(
        external_family(name),
        operator=IMPORTED,
        checkers={"scorer": load_template(f"{_TEMPLATES}.gym_scorer")},
    )


def folder_task(folder: Path) -> Family:
    """Return the task in a folder as a draft. Raises InputError if the folder has neither shape, or is too
    large."""
    paths = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")
    if len(paths) > MOST_FILES:
        what = f"{folder} has more Python files than a task may have"
        raise InputError(
            what, wanted=f"at most {MOST_FILES}", got=str(len(paths)), do="give the folder of one task"
        )
    files = {path.relative_to(folder).as_posix(): read_text(path) for path in paths}
    loader = load_template(f"{_TEMPLATES}.foreign_modules")
    trees = {name: _parsed(folder / name, text) for name, text in files.items()}
    if _defines(trees, "generator.py", "generate") and _defines(trees, "verifier.py", "verify"):
        head, task = "", load_template(f"{_TEMPLATES}.enigmata_task")
    elif found := _game(trees):
        head, task = (
            f'GAME = {found!r}\n"""File and class of the task."""\n',
            load_template(f"{_TEMPLATES}.synlogic_task"),
        )
    else:
        raise InputError(
            f"{folder} holds no task that is known",
            wanted=SHAPES,
            got=", ".join(files) or "no Python file",
            do="give the folder of one task",
        )
    source = f'FILES = {files!r}\n"""Path -> source."""\n{head}\n{loader}\n\n{task}'
    if len(source.encode()) > MAX_SOURCE_BYTES:
        raise InputError(
            f"the task in {folder} is too large",
            wanted=f"at most {MAX_SOURCE_BYTES} bytes of source",
            got=str(len(source.encode())),
        )
    name = id_of(folder)
    return Family(
        name=name,
        title=name.replace("-", " "),
        category="other",
        language="en",
        generator=source,
        template="[Input Slot 1]\n",
        validator=VALIDATOR,
        answer=Answer("any"),
        operator=IMPORTED,
        checkers={"scorer": source},
    )


def _parsed(path: Path, text: str) -> ast.Module:
    try:
        return parse(text)
    except Unreadable as error:
        raise InputError(
            f"{path} cannot be parsed", got=str(error), do="correct the file, or give the folder of one task"
        ) from None


def _defines(trees: dict[str, ast.Module], file: str, function: str) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) and node.name == function
        for name, tree in trees.items()
        if name.rpartition("/")[2] == file
        for node in tree.body
    )


def _game(trees: dict[str, ast.Module]) -> tuple[str, str] | None:
    """(file, class) of the first class that has `generate` and either `verify` or a base class, which may
    bring it."""
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                if "generate" in methods and ("verify" in methods or node.bases):
                    return name, node.name
    return None


DIGITS = 4300
"""Digits of a number in an instance's answer."""


def read_jsonl(path: Path) -> list[Family]:
    """Return the families of a JSONL file, in its order. Raises InputError, naming the line, for what is no
    family."""
    families = []
    for number, line in enumerate(read_text(Path(path)).split("\n"), start=1):
        if line.strip():
            families.append(read_line(line, f"{path}, line {number}"))
    if not families:
        raise InputError(f"no records in {path}", wanted="one JSON object a line")
    return families


def read_line(line: str, where: str) -> Family:
    """Return one record. Raises InputError."""
    try:
        record = parse_json(line, name=where, digits=DIGITS)
    except Unparsable as error:
        raise InputError(f"{where} is no JSON", got=error.got) from None
    if not isinstance(record, dict):
        raise InputError(f"{where}", wanted="a JSON object", got=type(record).__name__)
    if "generator" in record:
        check_text(where, record)
        try:
            family = from_record(record)
            assert family.family_id and family.sources(), "both walk every field"
            return family
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{where}: not a family's record", got=f"{type(error).__name__}: {error}"
            ) from None
    return from_pipeline(record, where)


def from_pipeline(record: Mapping[str, Any], where: str) -> Family:
    """Return a family from the paper's fields. Raises InputError for a missing or mistyped one."""
    script = record.get("full_script")
    generator, validator = record.get("generator_code") or script, record.get("validator_code") or script
    template = record.get("question_templates") or record.get("question_template")
    if isinstance(template, str) and template.lstrip().startswith('["'):
        template = _list_in_text(template)
    if isinstance(template, list) and template:
        template = template[0]
    wanted = "task_id, question_templates, and generator_code with validator_code, or full_script"
    if not all(isinstance(item, str) and item.strip() for item in (generator, validator, template)):
        raise InputError(
            f"{where}: fields are missing", wanted=wanted, got=", ".join(sorted(map(str, record)))
        )
    assert isinstance(generator, str) and isinstance(validator, str) and isinstance(template, str)
    name = str(record.get("task_id") or "family")
    language = "zh" if any("一" <= character <= "鿿" for character in template) else "en"
    return make_family(
        where,
        UncheckedFamily(
            name=name,
            title=str(record.get("title") or name),
            category=record.get("category", "other"),
            language=record.get("language", language),
            generator=generator,
            template=template,
            validator=validator,
            validators=record.get("validators") or {},
            reader=record.get("reader_code"),
            answer=record.get("answer") or {},
            parents=record.get("parents") or [],
            operator=str(record.get("operator", "import")),
            mutations={},
            checkers=record.get("checkers") or {},
        ),
    )


def _list_in_text(text: str) -> Any:
    """Return the value of a list, which some exports store as JSON text."""
    try:
        return parse_json(text, name="the list")
    except Unparsable:
        return text
