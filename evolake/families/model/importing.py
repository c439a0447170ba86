"""Families from JSON lines, one record per line, in the form of the paper's pipeline.

    task_id             a name
    generator_code      def input(difficulty)
    validator_code      def solution(inputs)
    full_script         instead of the two: one script with both functions
    question_templates  a template, or a list of them, of which the first is used
    sample_question     kept for people to compare; not part of the family

Records that `to_record` wrote (a key `generator`) are read as well, so a population exported by evolake can
be checked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.families.model.contract import Family, from_record
from evolake.families.model.loading import UncheckedFamily, check_text, make_family, read_text
from evolake.reading import Unparsable, parse_json

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
