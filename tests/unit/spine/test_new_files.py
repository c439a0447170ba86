"""A command that creates files creates all of them or none, however it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import evolake

from evolake.cli import init
from evolake.errors import InputError
from evolake.new_files import new_files, undone, write_new

COMMANDS = (
    ("init", "p/q"),
    ("init", "empty"),
    ("families", "new", "a/b/family"),
    ("designs", "new", "a/d.py"),
    ("programs", "new", "./a/project"),
    ("programs", "new", "project"),
    ("programs", "new", "project", "--in", "a"),
)


def tree(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.name.startswith("lake")
    )


def failing(monkeypatch: pytest.MonkeyPatch, name: str, at: int, error: BaseException) -> Callable[[], int]:
    """`Path.<name>` raises at its call number `at`. Returns what counts the calls."""
    real, calls = getattr(Path, name), []

    def patched(self: Path, *given: object, **options: object) -> object:
        if "site-packages" not in str(self) and ("x" in given or name != "open"):
            calls.append(self)
            if len(calls) == at:
                raise error
        return real(self, *given, **options)

    monkeypatch.setattr(Path, name, patched)
    return lambda: len(calls)


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("typed", COMMANDS, ids=" ".join)
def test_a_command_that_fails_leaves_nothing_behind(typed, error, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    variables = {"EVOLAKE_LAKE": str(tmp_path / "lake"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    name = "write_bytes" if typed[0] == "init" else "open"
    for at in (1, 2):
        with monkeypatch.context() as patch:
            calls = failing(patch, name, at, error)
            done = evolake(*typed, cwd=tmp_path, environment=variables)
        if calls() >= at:
            assert done.returncode in (2, 3, 130), done.stderr
            assert tree(tmp_path) == ["empty"]
            assert "this is a bug" not in done.stderr
        else:
            assert done.returncode == 0
            return
    assert evolake(*typed, cwd=tmp_path, environment=variables).returncode == 0


def test_init_that_fails_while_it_moves_its_files_leaves_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "p/.git").mkdir(parents=True)
    count = len({place.parts[0] for place, _ in init.files(tmp_path / "p")})
    for at in (1, count // 2, count):
        with monkeypatch.context() as patch:
            failing(patch, "rename", at, OSError(5, "Input/output error"))
            assert evolake("init", "p", cwd=tmp_path).returncode == 2
        assert tree(tmp_path) == ["p", "p/.git"]
    assert evolake("init", "p", cwd=tmp_path).returncode == 0
    assert (tmp_path / "p/data_lake/seeds").is_dir()


def test_a_project_for_a_damaged_lake_is_not_created(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake/_format.json").write_text("{")
    done = evolake(
        "programs",
        "new",
        "project",
        "--in",
        ".",
        cwd=tmp_path,
        environment={"EVOLAKE_LAKE": str(tmp_path / "lake"), "HOME": str(tmp_path)},
    )
    assert done.returncode == 3 and "_format.json" in done.stderr
    assert tree(tmp_path) == ["lake/_format.json"]


def test_what_was_there_before_stays(tmp_path):
    (tmp_path / "a").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        write_new({tmp_path / "b": "", tmp_path / "a": ""})
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(InputError, match="is there already"):
        write_new({tmp_path / "dangling": ""})
    with pytest.raises(InputError, match="cannot be written"):
        write_new({tmp_path / "c/d": "", tmp_path / "a/e": ""})
    with pytest.raises(RuntimeError), new_files({tmp_path / "f/g": "text"}):
        (tmp_path / "f/other").write_text("not ours")
        raise RuntimeError
    with pytest.raises(RuntimeError), undone(tmp_path / "a", tmp_path / "h/i"):
        raise RuntimeError
    assert tree(tmp_path) == ["a", "dangling", "f", "f/other"]
    assert (tmp_path / "a").read_text() == "mine"
