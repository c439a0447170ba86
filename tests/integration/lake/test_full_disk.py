"""A full disk: the publisher gets an error that says so, and nothing that was there is lost."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("full_disk.py")
WHOLE = {
    "old content whole": True,
    "record unchanged": True,
    "small content fits": True,
    "blob whole": True,
    "leftovers": [],
}


def _mount_command(folder: Path) -> list[str] | None:
    """The words that run a shell with a 2 MB tmpfs at `folder`, in a mount namespace of its own; None where
    the system forbids it."""
    if not shutil.which("unshare"):
        return None
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        words = [
            "unshare",
            *options,
            "sh",
            "-c",
            f'mount -t tmpfs -o size=2m tmpfs {shlex.quote(str(folder))} && exec "$@"',
            "sh",
        ]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    return None


def _run(words: list[str], **environment: str) -> dict:
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path):
    """On a real small file system where mounting is allowed; elsewhere the kernel's file size limit refuses
    the write part of the way."""
    mounted = _mount_command(tmp_path)
    reason, limit = ("No space left on device", []) if mounted else ("File too large", ["200000"])
    summary = _run([*(mounted or []), sys.executable, str(SCRIPT), str(tmp_path), *limit])
    messages = summary.pop("messages")
    assert summary == WHOLE
    assert [reason in message and "nothing is lost" in message for message in messages] == [True] * 3


def test_a_write_that_is_cut_short_is_an_error_and_loses_nothing(tmp_path):
    summary = _run([sys.executable, str(SCRIPT), str(tmp_path), "200000"])
    messages = summary.pop("messages")
    assert summary == WHOLE
    assert ["File too large" in message for message in messages] == [True] * 3


@pytest.mark.parametrize(
    ("how", "reason"), [("full", "No space left on device"), ("read-only", "Read-only file system")]
)
def test_commands_read_a_lake_that_cannot_be_written_and_say_why_they_cannot_do_more(tmp_path, how, reason):
    """Without a small file system of its own, the kernel's limit on the size of files refuses all writing."""
    disk, other = tmp_path / "disk", tmp_path / "other"
    disk.mkdir()
    other.mkdir()
    mounted = _mount_command(disk)
    how, reason = (how, reason) if mounted else ("limited", "File too large")
    tests = Path(__file__).parents[2]
    summary = _run(
        [*(mounted or []), sys.executable, str(SCRIPT.with_name("full_lake.py")), str(disk), how, str(other)],
        PYTHONPATH=str(tests),
    )
    assert (summary.pop("lake as before"), summary.pop("there is room")) == (True, not mounted)
    code, printed, said = summary.pop("status")
    assert (code, printed.splitlines()[1], said) == (0, "ordered: 3 cycles done; next: 0004", "")
    assert {name: code for name, (code, _, _) in summary.items()} == {"guide": 3, "report": 3, "run": 3}
    assert str(disk) in summary["report"][2] or not mounted, "an error of a write names the disk that is full"
    for _, printed, said in summary.values():
        assert (printed, reason in said, "next: " in said, "Traceback" in said, "bug" in said) == (
            "",
            True,
            True,
            False,
            False,
        ), said
