"""Small projects, and programs that cheat, for tests of the programs line."""

from __future__ import annotations

from collections.abc import Mapping

from evolake.gates import Ruleset, load_rules
from evolake.lake import BlobStore
from evolake.programs.evolution.generations import judge
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project, program_id, project_of
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.settings import ProgramsSettings
from evolake.project import BROUGHT

PROGRAM = """import math

# EVOLVE-BLOCK-START
def answer(x):
    scale = 2.0
    shift = 1
    if x > 3:
        shift = shift + 1
    return scale * x + shift
# EVOLVE-BLOCK-END


def run():
    return [answer(x) for x in range(5)]
"""
EVALUATOR = """import importlib.util
import math

TARGET = 31.4159


def distance(values):
    return abs(sum(values) - TARGET)


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    gap = distance(program.run())
    return {"combined_score": 1 / (1 + gap), "gap": gap}
"""
APART = """def cases(seed):
    return [seed % 7, 2, 5]


def score(cases, results):
    good = [one["output"] == 2 * case + 1 for case, one in zip(cases, results) if one["status"] == "ok"]
    return {"combined_score": sum(good) / len(cases)}
"""
OWN = ProgramsSettings(cpu_s=5, wall_s=20, memory_mb=1024, processes=4)


def imports(evaluator: str = EVALUATOR, program: str = PROGRAM, **more: str) -> Project:
    """A project whose evaluator imports the program. more: file, dots as __, -> text."""
    return calls(evaluator, program, **{"project__toml": '[evaluator]\nmode = "imports"\n'} | more)


def calls(evaluator: str = EVALUATOR, program: str = PROGRAM, **more: str) -> Project:
    """A project that leaves it open how evaluator and program meet. more: as for `imports`."""
    return made(
        {"initial_program.py": program, "evaluator.py": evaluator}
        | {name.replace("__", "."): text for name, text in more.items()}
    )


def apart(
    program: str = "def double(x):\n    return 2 * x + 1\n", evaluator: str = APART, toml: str = ""
) -> Project:
    """A project whose program runs apart from its evaluator, as a function."""
    given = toml or '[program]\nentry = "double"\n[evaluator]\nmode = "separate"\ncpu_s = 2\nwall_s = 10\n'
    return made({"initial_program.py": program, "evaluator.py": evaluator, "project.toml": given})


def made(files: Mapping[str, str]) -> Project:
    """A project of these files."""
    return project_of("toy", {name: text.encode() for name, text in files.items()})


def rules() -> Ruleset:
    """The shipped rules."""
    return load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "programs")


def judged(
    project: Project, blobs: BlobStore, text: str | None = None, *, seed: int = 1, own: ProgramsSettings = OWN
):
    """(gate, reason) that a program is blocked by, ("", "") for none; beside it the candidate. text: of the
    main file; None: as it is."""
    texts = dict(project.evolving) if text is None else {**project.evolving, project.main: text}
    with Evaluator(project, own) as evaluator:
        candidate = Candidate(texts, program_id(project.name, texts), evaluator, [seed])
        results = judge(candidate, rules(), blobs, cycle="0001", run_id="test")
    objection = results.blocked_by
    return ((objection.gate, objection.reason) if objection else ("", "")), candidate


def cheater(body: str) -> str:
    """The program with other lines in its block."""
    before, _, rest = PROGRAM.partition("# EVOLVE-BLOCK-START\n")
    return f"{before}# EVOLVE-BLOCK-START\n{body}# EVOLVE-BLOCK-END{rest.partition('# EVOLVE-BLOCK-END')[2]}"
