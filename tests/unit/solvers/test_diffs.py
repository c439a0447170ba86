"""Strict diffs: exact context, confined paths, all or nothing, and problems that tell what to mend."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from evolake.solvers.repository.unified_diff import DiffResult, apply_diff, diff_files

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
EDITABLE = ("src/**/*.cc", "src/*.h")


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "src/core").mkdir(parents=True)
    (tmp_path / "src/core/a.cc").write_text(TEXT)
    (tmp_path / "src/b.h").write_text("alpha\nbeta\n")
    (tmp_path / "README.md").write_text("read me\n")
    return tmp_path


def hunk(body: str, start: int = 2, path: str = "src/core/a.cc") -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -{start},3 +{start},3 @@\n{body}"


def test_several_files_are_changed_made_and_removed(folder):
    diff = (
        hunk(" two\n-three\n+THREE\n four\n")
        + "--- a/src/b.h\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-alpha\n-beta\n"
    )
    diff += "--- /dev/null\n+++ b/src/core/new.cc\n@@ -0,0 +1 @@\n+int x;\n"
    assert apply_diff(folder, diff, editable=EDITABLE) == DiffResult(
        True, (), ("src/core/a.cc", "src/b.h", "src/core/new.cc")
    )
    assert (folder / "src/core/a.cc").read_text() == TEXT.replace("three", "THREE")
    assert (folder / "src/core/new.cc").read_text() == "int x;\n"
    assert not (folder / "src/b.h").exists()


def test_wrong_line_numbers_and_counts_do_not_matter_where_the_place_is_one(folder):
    diff = (
        "diff --git a/src/core/a.cc b/src/core/a.cc\nindex 1..2 100644\n--- a/src/core/a.cc\n+++ "
        "b/src/core/a.cc\n"
    )
    diff += "@@ -900,9 +901,1 @@ int f()\n five\n-six\n+SIX\n+more\n seven\n\n"
    assert apply_diff(folder, diff, editable=EDITABLE).applied
    assert (folder / "src/core/a.cc").read_text() == TEXT.replace("six", "SIX\nmore")


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        (
            hunk(" two\n-tree\n+x\n four\n"),
            "old line 2 does not match line 3 of the file: the diff has 'tree', the file has 'three'",
        ),
        (hunk(" nowhere\n-three\n+x\n"), "its first old line stands nowhere in the file: 'nowhere'"),
        (hunk("+x\n", start=3), "no line of context"),
        (hunk(" two\n", path="src/none.h"), "there is no such file"),
        (hunk(" read me\n", path="README.md"), "README.md may not be edited"),
        (hunk(" x\n", path="src/../../etc/passwd.h"), "no plain path"),
        (hunk(" x\n", path="/etc/passwd"), "no plain path"),
        ("--- /dev/null\n+++ b/src/b.h\n@@ -0,0 +1 @@\n+x\n", "is there already"),
        ("--- a/src/b.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-alpha\n", "the diff leaves lines of it"),
        ("--- a/src/b.h\n+++ b/src/c.h\n@@ -1 +1 @@\n-alpha\n+x\n", "cannot be renamed"),
        ("diff --git a/src/b.h b/src/c.h\nrename from src/b.h\nrename to src/c.h\n", "renames a file"),
        ("GIT binary patch\n", "binary patch"),
        ("--- a/src/b.h\n+++ b/src/b.h\n", "no hunk follows"),
        ("", "there is no file in the diff"),
        ("Here is the diff:\n", "belongs to no file"),
        ("--- /dev/null\n+++ b/src/z.h\n@@ -0,0 +1 @@\n+x\0\n", "would be no text"),
        (hunk(" two\n-three\n+x\n") + hunk(" six\n-seven\n+x\n", 6), "comes twice"),
    ],
)
def test_a_diff_that_does_not_fit_is_told_why_and_changes_nothing(folder, diff, said):
    good = "--- a/src/b.h\n+++ b/src/b.h\n@@ -1 +1 @@\n-alpha\n+ALPHA\n"
    result = apply_diff(
        folder,
        (good if "src/b.h" not in diff else "") + diff if diff.startswith("---") else diff,
        editable=EDITABLE,
    )
    assert not result.applied and any(said in problem for problem in result.problems), result
    assert (folder / "src/core/a.cc").read_text() == TEXT and (
        folder / "src/b.h"
    ).read_text() == "alpha\nbeta\n"


def test_lines_at_several_places_are_not_guessed(folder):
    (folder / "src/b.h").write_text("x\ny\nx\ny\n")
    result = apply_diff(folder, hunk(" x\n-y\n+z\n", start=9, path="src/b.h"), editable=EDITABLE)
    assert result.problems == (
        "src/b.h, hunk 1 (line 9): its lines stand at 2 places (lines 1, 3); give the right line number "
        "or more context",
    )
    assert apply_diff(folder, hunk(" x\n-y\n+z\n", start=3, path="src/b.h"), editable=EDITABLE).applied
    assert (folder / "src/b.h").read_text() == "x\ny\nx\nz\n"


def test_no_link_is_followed(folder, tmp_path):
    (tmp_path / "outside").mkdir()
    (folder / "src/link").symlink_to(tmp_path / "outside")
    result = apply_diff(folder, "--- /dev/null\n+++ b/src/link/x.cc\n@@ -0,0 +1 @@\n+x\n", editable=EDITABLE)
    assert result.problems == ("src/link/x.cc leads through a link",)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("echoed", [False, True])
def test_a_file_keeps_its_line_ends_and_its_byte_order_mark(folder, mark, ends, echoed):
    text = f"{mark}alpha\nbeta\ngamma\n".replace("\n", ends)
    (folder / "src/b.h").write_bytes(text.encode())
    shown = mark if echoed else ""
    assert (
        apply_diff(
            folder, hunk(f" {shown}alpha\n-beta\n+BETA\n+more\n gamma\n", 1, "src/b.h"), editable=EDITABLE
        ).problems
        == ()
    )
    assert (folder / "src/b.h").read_bytes() == text.replace("beta", f"BETA{ends}more").encode()
    assert apply_diff(
        folder, hunk(f"-{shown}alpha\n+first\n BETA\n", 1, "src/b.h"), editable=EDITABLE
    ).applied
    assert (folder / "src/b.h").read_bytes().startswith(f"{mark}first{ends}BETA".encode())


def test_a_line_that_stands_nowhere_is_answered_with_the_text_most_like_it(folder):
    (folder / "src/core/a.cc").write_text("int f() {\n    return budget_of(first) * 2;\n}\n")
    result = apply_diff(
        folder, hunk("-    return budget(first) * 2;\n+    return 3;\n }\n"), editable=EDITABLE
    )
    assert (
        "most like it is line 2 of the file" in result.problems[0]
        and "    return budget_of(first) * 2;\n}" in result.problems[0]
    )


lines = some.lists(
    some.sampled_from(["a", "b", "", "-- x", "++ y", "@@ -1 +1 @@", "\f", "c d", "-", "+"]), max_size=12
)


@settings(max_examples=300, deadline=None)
@given(old=lines, new=lines, ended=some.tuples(some.booleans(), some.booleans()))
def test_a_diff_applied_gives_the_new_text(tmp_path_factory, old, new, ended):
    folder = tmp_path_factory.mktemp("diff")
    texts = [
        "\n".join(part) + ("\n" if end and part else "") for part, end in zip((old, new), ended, strict=True)
    ]
    for name, text in zip(("old", "new"), texts, strict=True):
        (folder / name / "src").mkdir(parents=True)
        (folder / name / "src/x.h").write_text(text)
    diff = diff_files(*({"src/x.h": folder / name / "src/x.h"} for name in ("old", "new")))
    result = apply_diff(folder / "old", diff, editable=("src/*",)) if diff else DiffResult(True)
    assert result.applied, (result, diff)
    assert (folder / "old/src/x.h").read_text() == texts[1]
