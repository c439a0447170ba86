"""The skill for agents, followed to the letter: its files are written and its commands typed, in order, the
long ones shortened."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

SKILL = Path(__file__).parents[2] / "skills" / "evolake" / "SKILL.md"
TYPED_ELSEWHERE = ("evolake programs new ./work", "evolake solvers tune", "evolake audit")
"""Inline commands that are typed first, with what to tune by tests of their own, and with a project."""
SHORTER = {"audit": ["--seconds", "2"]}
PROGRAM = "# EVOLVE-BLOCK-START\ndef curve(x):\n    return 0.9 * x - 0.25 * x * x\n# EVOLVE-BLOCK-END\n"
EVALUATOR = """import math


def cases(seed):
    return [3 * i / 40 for i in range(40)]


def score(cases, results):
    gaps = [abs(r["output"] - math.sin(x)) if r["status"] == "ok" else 9.0 for x, r in zip(cases, results)]
    return {"combined_score": 1 / (1 + sum(gaps) / len(gaps))}
"""


def test_its_head_names_it_and_says_when_to_use_it():
    head = re.match(r"---\nname: evolake\ndescription: (.+)\n---\n", SKILL.read_text())
    assert head is not None and 50 < len(head[1]) < 1024 and len(SKILL.read_text()) < 6_000


def test_an_agent_that_follows_it_gets_a_champion(tmp_path):
    text = SKILL.read_text()
    typed = re.findall(r"^ {4,8}((?:[A-Z_]+=\S+ )*evolake .+)$", text, re.MULTILINE)
    assert len(typed) == 11, typed
    inline = [" ".join(item.split()) for item in re.findall(r"`(evolake [^`]+)`", text)]
    typed += [line for line in inline if line not in TYPED_ELSEWHERE]
    assert len(typed) == 14 and {*TYPED_ELSEWHERE} <= {*inline}, inline
    place = {name: text for name, text in os.environ.items() if not name.startswith("EVOLAKE_")}
    place |= {"EVOLAKE_LAKE": str(tmp_path / "lake"), "DAGSTER_HOME": str(tmp_path / "home")}
    place |= {"EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1", "EVOLAKE_PROGRAMS__BASELINE_SHARE": "0"}
    printed: dict[str, str] = {}
    for line in ["evolake programs new ./work", *typed]:
        words = shlex.split(line)
        own = dict(word.split("=", 1) for word in words[: words.index("evolake")])
        words = words[words.index("evolake") + 1 :]
        words = [word if word != "ID" else json.loads(printed["champion"])["artifact_id"] for word in words]
        words = [
            "1" if before == "--cycles" else word for before, word in zip(["", *words], words, strict=False)
        ]
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from evolake.cli import main; main()",
                *words,
                *SHORTER.get(words[0], []),
            ],
            cwd=tmp_path,
            env=place | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        if words[:2] == ["programs", "new"]:
            block = re.search(r"`project.toml`:\n\n((?: {9}.*\n)+)", text)
            assert block is not None
            (tmp_path / "work" / "project.toml").write_text(re.sub(r"(?m)^ {9}", "", block[1]))
            (tmp_path / "work" / "initial_program.py").write_text(PROGRAM)
            (tmp_path / "work" / "evaluator.py").write_text(EVALUATOR)
        if words[:2] == ["champion", "programs"] and "--json" in words:
            printed["champion"] = done.stdout
    assert any((tmp_path / "best").iterdir())
