"""`evolake watch` shows a lake as it is now, also while a run writes to it, and ends cleanly."""

import os
import pty
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from solver_lake import ID, make_lake

from evolake.cli.watch import describe, watch
from evolake.errors import InputError
from evolake.families.tables import FAMILIES
from evolake.lake import CHAMPIONS, Lake, TableSchema, side_table
from evolake.lake.locks import held_by
from evolake.report.outcome import Seen
from evolake.report.story import story_of

LONG_S = 60


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return make_lake(tmp_path_factory.mktemp("lake"))


def shown(root: Path, *words: str) -> str:
    """One frame, on one line."""
    done = CliRunner().invoke(
        watch, ["--lake", str(root), "--once", *words], catch_exceptions=False, standalone_mode=False
    )
    return " ".join(done.output.split())


def files_of(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_frame_says_who_leads_the_score_by_cycle_the_gates_and_the_spend(lake):
    before = files_of(lake.root)
    text = shown(lake.root)
    assert "solvers 2 cycles done" in text
    assert "now idle" in text
    assert f"leads <b>fast</b> ({ID['fast'][:12]}), since cycle 0002" in text
    assert "score █▁ PAR-2 of the champion: 2.3 s in 0001, 1.15 s in 0002" in text
    assert "gates cycle 0002: 1 proposed, 1 passed every gate" in text
    assert "so far; cycle 0002: 55 s of processor time, no tokens" in text
    assert files_of(lake.root) == before


def test_while_a_run_holds_the_line_it_says_what_it_is_at(lake):
    note = TableSchema("notes", 1, {"text": (pl.String, "What is noted.")}, keys=("text",))
    with lake.line_lock("solvers", run_id="working"):
        assert "now the seeds, or nothing published yet for 0:0" in shown(lake.root)
        lake.publish(
            "solvers", "notes", note.frame([{"text": "a"}]), cycle="0003", run_id="working", schema=note
        )
        assert "min, 1 table so far, last notes" in shown(lake.root, "--lines", "solvers")
        assert "now cycle 0003 for" in shown(lake.root)
    assert "now idle" in shown(lake.root)


def test_a_note_of_a_process_that_is_gone_is_nobody_at_work(lake, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with lake.line_lock("solvers", run_id="r"):
        note = (lake.root / "locks" / "solvers.holder").read_text()
    (tmp_path / "x.holder").write_text(note.replace(f'"pid": {os.getpid()}', f'"pid": {ended.pid}'))
    assert held_by(tmp_path / "x.lock") is None
    (tmp_path / "x.holder").write_text(note)
    assert (result := held_by(tmp_path / "x.lock")) is not None and (result.run_id, result.pid) == (
        "r",
        os.getpid(),
    )
    (tmp_path / "x.holder").write_text("no note")
    assert held_by(tmp_path / "x.lock") is None


def test_a_line_without_a_finished_cycle_and_an_empty_lake_say_so(tmp_path):
    assert "The lake holds no cycle yet" in shown(tmp_path)
    alone = shown(tmp_path, "--lines", "designs")
    assert "designs 0 cycles done" in alone and "no cycle is finished" in alone
    assert (
        "designs 0 cycles done" in (both := shown(tmp_path, "--lines", "designs, families"))
        and "families 0 cycles done" in both
    )
    for lines in ("desings", "designs,desings"):
        with pytest.raises(InputError, match="no line 'desings'"):
            shown(tmp_path, "--lines", lines)


def test_ctrl_c_ends_the_live_view_with_a_sentence(lake):
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-c",
        "from evolake.cli import main; main()",
        "watch",
        "--lake",
        str(lake.root),
    ]
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    text = b""
    try:
        while b"spent" not in text:
            text += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        while b"No longer watching" not in text:
            text += os.read(ours, 4096)
        assert process.wait(LONG_S) == 0
    finally:
        process.kill()
        os.close(ours)
    assert b"Traceback" not in text


def test_the_scores_of_designs_and_families_read_as_what_they_measure(tmp_path):
    lake = Lake(tmp_path)
    crowned = [{"line": "designs", "cycle": "0001", "artifact_id": "a", "score": 0.5}]
    lake.publish(
        "designs",
        side_table("close", CHAMPIONS),
        CHAMPIONS.frame(crowned),
        cycle="0001",
        run_id="r",
        schema=CHAMPIONS,
    )
    families = [{"family_id": "f", "state": "accepted", "cycle": "0000"}]
    lake.publish("families", "seeds", FAMILIES.frame(families), cycle=None, run_id="r", schema=FAMILIES)
    scores = {
        line: dict(describe(Seen(line, ["0001"], story_of(lake, line, "0001")), datetime.now(UTC)))["score"]
        for line in ("designs", "families")
    }
    assert scores == {
        "designs": "▅  work of the baseline over that of the champion: 1 in 0001",
        "families": "▅  families accepted so far: 1 at the start",
    }
