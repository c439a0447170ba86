"""A journal is read up to the last step whose weights are there, whatever a kill left behind."""

from pathlib import Path

from evolake.lake import disk
from evolake.prompts.study_journal import Journal


class Killed(BaseException):
    """What stands for a kill."""


def test_it_gives_back_what_was_noted_and_the_last_weights_alone(tmp_path):
    journal = Journal(tmp_path / "cell", "key")
    assert journal.read() == ([], None)
    for step in (1, 2, 3):
        journal.note(step, {"step": step}, b"weights %d" % step)
    assert journal.read() == ([{"step": 1}, {"step": 2}, {"step": 3}], b"weights 3")
    assert [path.name for path in sorted(journal.folder.glob("*.weights"))] == ["00003.weights"]
    assert Journal(tmp_path / "cell", "other").read() == ([], None)
    journal.clear()
    assert journal.read() == ([], None)


def test_steps_without_weights_are_read_too(tmp_path):
    journal = Journal(tmp_path, "key")
    journal.note(1, {"a": 1}, None)
    journal.note(2, {"a": 2}, None)
    assert journal.read() == ([{"a": 1}, {"a": 2}], None)


def test_a_kill_at_any_touch_of_the_disk_leaves_the_step_before_or_the_step(tmp_path, monkeypatch):
    operations = 0
    for number in range(1, 60):
        journal = Journal(tmp_path / str(number), "key")
        journal.note(1, {"step": 1}, b"first weights")
        left = number

        def kill(operation: str, path: Path) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        monkeypatch.setattr(disk, "hook", kill)
        try:
            journal.note(2, {"step": 2}, b"second weights")
        except Killed:
            operations = number
        finally:
            monkeypatch.setattr(disk, "hook", None)
        assert journal.read() in (
            ([{"step": 1}], b"first weights"),
            ([{"step": 1}, {"step": 2}], b"second weights"),
        )
        if operations < number:
            break
    assert operations > 6
    assert journal.read()[1] == b"second weights"


def test_damage_is_not_read(tmp_path):
    journal = Journal(tmp_path, "key")
    journal.note(1, {"step": 1}, b"weights")
    (tmp_path / "00001.weights").write_bytes(b"other")
    assert journal.read() == ([], None)
    journal.note(1, {"step": 1}, b"weights")
    (tmp_path / "00002.json").write_bytes(b"{")
    assert journal.read() == ([{"step": 1}], b"weights")
