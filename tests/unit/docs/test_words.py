"""Pages, SQL and report templates are spelt right and use the plain words: `make words`."""

import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[3]


def make_words(*settings: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "words", f"BIN={sysconfig.get_path('scripts')}", *settings]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_words_that_have_a_plainer_one_are_found_outside_of_code_and_there_are_none(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Run `told` and `two\nmend` anew.\n\n    evolake tape\n\n[This](beside.md) stands for it; nobody.\n"
    )
    found = make_words(f"PROSE={page}")
    assert [line.split(": ")[1].split(" ==>")[0] for line in found.stdout.splitlines()] == ["anew", "nobody"]
    done = make_words()
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
