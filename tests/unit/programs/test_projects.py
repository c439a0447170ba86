"""Projects from folders: OpenEvolve's contract as it is, project.toml, config.yaml, and what is refused with
which words."""

import pytest
from programs_fixtures import EVALUATOR, PROGRAM, imports, made

from evolake.errors import InputError
from evolake.programs.commands.group import FILES
from evolake.programs.evolution.added_seeds import items
from evolake.programs.model.project import (
    limits_of,
    load_project,
    pack_files,
    project_folders,
    project_of,
    unpack_files,
)
from evolake.programs.settings import ProgramsSettings

CONFIG = """
max_iterations: 40
llm:
  primary_model: some
evaluator:
  timeout: 12
  cascade_thresholds: [0.5, 0.75]
database:
  num_islands: 5
  population_size: 30
  feature_dimensions: [gap]
  feature_bins: 4
prompt:
  system_message: Keep it short.
"""


def test_openevolve_s_contract_is_a_project():
    project = imports(config__yaml=CONFIG)
    assert (
        project.main,
        project.protected,
        project.python,
        project.score_name,
        project.higher_is_better,
    ) == ("initial_program.py", False, True, "combined_score", True)
    config = project.config
    assert (config.iterations, config.timeout_s, config.thresholds, config.islands, config.population) == (
        40,
        12.0,
        (0.5, 0.75),
        5,
        30,
    )
    assert (config.features, config.bins, config.instructions, config.unused) == (
        ("gap",),
        4,
        "Keep it short.",
        ("llm.primary_model",),
    )
    assert [limits_of(project, ProgramsSettings())[name] for name in ("cpu_s", "wall_s")] == [12.0, 48.0]
    assert set(project.evaluator_files) == {"evaluator.py"}


def test_what_new_writes_is_a_protected_project():
    project = project_of("mine", {name: text.encode() for name, text in FILES.items()})
    assert project.protected and project.metrics == {"combined_score": "max", "worst": "min"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"evaluator.py": EVALUATOR}, "has no initial program"),
        ({"initial_program.py": PROGRAM}, "there is no evaluator evaluator.py"),
        (
            {"initial_program.py": PROGRAM, "initial_program.c": "x", "evaluator.py": ""},
            "has no initial program",
        ),
        ({"initial_program.py": "# EVOLVE-BLOCK-START\n", "evaluator.py": ""}, "has no EVOLVE-BLOCK-END"),
        ({"initial_program.py": "# EVOLVE-BLOCK-END\n", "evaluator.py": ""}, "ends that never started"),
        (
            {"initial_program.py": "x = 1  # EVOLVE-PARAM 5 1\n", "evaluator.py": ""},
            "EVOLVE-PARAM cannot be used",
        ),
        (
            {"initial_program.py": "x = y  # EVOLVE-PARAM 1 5\n", "evaluator.py": ""},
            "no number stands before it",
        ),
        ({"initial_program.py": PROGRAM, "evaluator.py": "", "config.yaml": "a: ["}, "is no YAML"),
        ({"initial_program.py": PROGRAM, "evaluator.py": "", "config.yaml": "- 1"}, "is no table"),
        (
            {"initial_program.py": PROGRAM, "evaluator.py": "", "config.yaml": "max_iterations: many"},
            "max_iterations cannot be used",
        ),
        (
            {"initial_program.py": PROGRAM, "evaluator.py": "", "project.toml": "colour = 1"},
            "colour cannot be used",
        ),
        ({"initial_program.py": PROGRAM, "evaluator.py": "", "project.toml": "["}, "is no TOML"),
        (
            {
                "initial_program.py": PROGRAM,
                "evaluator.py": "",
                "project.toml": "[program]\nfiles = ['evaluator.py']",
            },
            "evaluator cannot be among",
        ),
        (
            {"initial_program.py": PROGRAM, "evaluator.py": "", "project.toml": "[program]\nentry = 'f'"},
            "of a program that runs apart",
        ),
        (
            {"initial_program.c": "x", "evaluator.py": "", "project.toml": "[evaluator]\nmode = 'separate'"},
            "nothing says how the program runs",
        ),
        (
            {
                "initial_program.c": "x",
                "evaluator.py": "",
                "project.toml": "[program]\nentry='f'\n[evaluator]\nmode='separate'",
            },
            "cannot be called",
        ),
        (
            {
                "initial_program.py": "",
                "evaluator.py": "",
                "project.toml": "[program]\nneeds=['evaluator.py']\n[evaluator]\nmode='separate'",
            },
            "cannot have",
        ),
        (
            {
                "initial_program.c": "x",
                "evaluator.py": "",
                "project.toml": "[program]\nbuild='cc'\nrun='a'\n[evaluator]\nmode='separate'",
            },
            "is not named",
        ),
    ],
)
def test_what_is_no_project_is_told(files, said):
    with pytest.raises(InputError, match=said.replace("[", r"\[")):
        made(files)


def test_folders_come_from_the_setting_or_the_seeds_and_are_known_by_their_bytes(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / "programs" / name
        folder.mkdir(parents=True)
        for file, text in FILES.items():
            (folder / file).write_text(text)
    (tmp_path / "programs" / "none").mkdir()
    result = project_folders(ProgramsSettings(), tmp_path)
    assert [folder.name for folder in result] == ["one", "two"]
    assert project_folders(ProgramsSettings(projects=f" {result[1]} ,"), tmp_path) == [result[1]]
    with pytest.raises(InputError, match="there is no project folder"):
        project_folders(ProgramsSettings(projects="/nowhere"), tmp_path)
    with pytest.raises(InputError, match="two projects have one name"):
        project_folders(ProgramsSettings(projects=f"{result[0]},{result[0]}"), tmp_path)
    before = load_project(result[0]).sha
    (result[0] / "evaluator.py").write_text(FILES["evaluator.py"] + "\n")
    (result[0] / "__pycache__").mkdir()
    (result[0] / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert load_project(result[0]).sha != before
    assert unpack_files(pack_files(load_project(result[0]).files)) == load_project(result[0]).files


def test_a_folder_that_is_no_project_says_so_when_it_would_enter(tmp_path, monkeypatch):
    (tmp_path / "broken").mkdir()
    monkeypatch.setenv("EVOLAKE_PROGRAMS__PROJECTS", str(tmp_path / "broken"))
    (item,) = items(tmp_path)
    with pytest.raises(InputError, match="has no initial program"):
        item.pack()
    (tmp_path / "broken" / "data").write_bytes(bytes(9 << 20))
    (item,) = items(tmp_path)
    with pytest.raises(InputError, match="is too large"):
        item.pack()
