"""`families check` lists all faults of a blocked family at once, each with its file and line."""

from __future__ import annotations

import json
from pathlib import Path

from commands import evolake
from families_fixtures import seed_family

from evolake.families.commands.fault_places import place_of
from evolake.families.commands.new import FILES


def spoilt(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    text = FILES["template.md"]
    more = (
        "The houses are painted in 7 colours.\nThe road has 9 lamps.\nA house is empty if it is steep.\n"
        "<!-- question -->"
    )
    (folder / "template.md").write_text(text.replace("<!-- question -->", more))
    source = FILES["validators/asking.py"]
    (folder / "validators/asking.py").write_text(
        source.replace("    return ", "    return 1 + ", 1).replace("return 1 + {", "return {")
    )
    return folder


def test_all_faults_are_listed_with_their_places(tmp_path):
    done = evolake("families", "check", str(spoilt(tmp_path / "spoilt")), "--json")
    assert done.returncode == 1, done.stderr
    [faults] = json.loads(done.stdout)["faults"].values()
    assert [(fault["file"], fault["line"]) for fault in faults if fault["gate"] == "sentences"] == [
        ("template.md", 3),
        ("template.md", 4),
        ("template.md", 5),
    ]
    done = evolake("families", "check", str(tmp_path / "spoilt"))
    assert "1. " in done.stdout
    assert "(template.md, line 4)" in done.stdout


def test_reasons_are_placed_where_they_belong():
    family = seed_family("border-colours")
    clinic = seed_family("clinic-queue")
    line = next(
        number
        for number, text in enumerate(clinic.validator.split("\n"), start=1)
        if text.startswith("def solution")
    )
    assert place_of(
        clinic, "the primary is outvoted in 3 of 40 instances; at difficulty 5, seed 7: primary: 3"
    ) == ("validator.py", line)
    assert place_of(family, "validator borders: cpu: past the cpu cap")[0] == "checkers/borders.py"
    assert place_of(family, "checker borders, line 5: open: a checker may not use it") == (
        "checkers/borders.py",
        5,
    )
    assert place_of(family, "the answer stands in the text: slot 2 is it in 95% of the instances") == (
        "template.md",
        3,
    )
    assert place_of(
        family, "a quantity can be another and no answer changes: 'A map has # regions, numbered from 1.'"
    ) == ("template.md", 1)
    assert place_of(family, "the inputs do not grow with the difficulty: characters 1:5")[0] == "generator.py"
