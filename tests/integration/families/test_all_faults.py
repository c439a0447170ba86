"""`families check` lists all faults of a blocked family at once, each with its file and line."""

import json
from pathlib import Path

from commands import evolake

from evolake.families.commands.authoring import FILES


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
