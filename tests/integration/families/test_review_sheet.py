"""A person reads a family from its text alone: the sheet, the answers, and what they change; a model does the
same by an endpoint."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from families_fixtures import SEEDS
from loopback_model import KEY, LoopbackModel, serve

from evolake.errors import InputError
from evolake.families.commands.group import families
from evolake.families.dataset.human_audit import SHEET_COLUMNS, read_answers, sheet_text
from evolake.families.model.family_files import read_family
from evolake.families.sandbox.running import Instance

CLINIC = SEEDS / "families" / "clinic-queue"


@pytest.fixture(autouse=True)
def own_lake(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))


def typed(*words: object) -> tuple[Any, str, Any]:
    result = CliRunner().invoke(families, [*map(str, words)], standalone_mode=False)
    return result.return_value, result.stdout, result.exception


def write_answers(path: Path, lines: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, SHEET_COLUMNS)
    writer.writeheader()
    writer.writerows(lines)
    path.write_text(text.getvalue())


def answered(sheet: Path, wrong: int) -> Path:
    """The sheet with right answers by the family's own programs, but for the first `wrong`."""
    spaces: dict[str, Any] = {}
    for name in ("reader.py", "validators/sorting.py"):
        exec((CLINIC / name).read_text(), spaces)
    lines = list(csv.DictReader(io.StringIO(sheet.read_text())))
    for number, line in enumerate(lines):
        right = spaces["solution"](spaces["read"](line["text"].removeprefix("'")))
        line |= {"answer": str(right + 1 if number < wrong else right), "reader": "Ada"}
    path = sheet.with_name("answered.csv")
    write_answers(path, lines)
    return path


def test_a_person_answers_a_sheet_and_check_says_so(tmp_path):
    sheet = tmp_path / "sheet.csv"
    assert typed("review-sheet", CLINIC, "--out", sheet)[0] == 0
    lines = list(csv.DictReader(io.StringIO(sheet.read_text())))
    assert (
        len(lines) == 10
        and {line["answer"] for line in lines} == {""}
        and "solution" not in sheet.read_text()
    )
    code, out, _ = typed("review-sheet", CLINIC, "--answers", answered(sheet, 4))
    assert code == 1 and "6 of 10 answers are right" in out
    code, out, _ = typed("review-sheet", CLINIC, "--answers", answered(sheet, 1), "--json")
    assert (code, json.loads(out)["verdict"], json.loads(out)["right"]) == (0, "read by a person", 9)
    code, out, _ = typed("check", CLINIC)
    assert code == 0 and "independent: person (person: 9 of 10 right)" in out


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"family_id": "f" * 64}, "the sheet is not of this content of clinic-queue"),
        ({"seed": "7"}, "no such instance"),
        ({"number": "0"}, "number 0 is there twice|no such instance"),
        ({"answer": " "}, "holds no answer"),
        ({"number": "²"}, "no such instance"),
    ],
)
def test_a_sheet_of_another_content_or_without_answers_is_refused(tmp_path, others, message):
    family = read_family(CLINIC)
    instances = [Instance(5, seed, "ok", "", f"text {seed}", {}, (), 0.0) for seed in (11, 12)]
    lines = list(csv.DictReader(io.StringIO(sheet_text(family, instances))))
    path = tmp_path / "answered.csv"
    write_answers(path, [line | {"answer": "1"} | others for line in lines])
    with pytest.raises(InputError, match=message) as error:
        read_answers(path, family, instances)
    assert error.value.exit_code == 2


def test_a_model_that_reads_the_text_alone_is_asked_and_its_answers_are_kept(tmp_path, monkeypatch):
    family = read_family(CLINIC)
    assert family.reader is not None
    program = family.reader + family.validators["sorting"].replace("KEYS[ORDER]", 'KEYS["shortest"]')
    program += "\nprint('\\\\boxed{%s}' % solution(read(TEXT)))\n"
    with LoopbackModel(serve(lambda asked: {"reasoning": "run it", "code": program})) as server:
        for name, value in {
            "MODEL_BASE_URL": server.base_url,
            "MODEL_API_KEY": KEY,
            "MODELS": json.dumps({"default": "small-1"}),
            "BUDGET__TOKENS_PER_RUN": "1000000",
        }.items():
            monkeypatch.setenv(f"EVOLAKE_{name}", value)
        code, out, error = typed("check", CLINIC, "--readers", "model")
        asked = len(server.requests)
    assert (code, error) == (0, None)
    assert "independent: model (model: 5 of 5 right)" in out and asked == 5
    assert "independent: model (model: 5 of 5 right)" in typed("check", CLINIC)[1]
