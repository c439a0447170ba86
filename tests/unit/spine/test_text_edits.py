"""Edits of texts: found whatever the line ends, and if not, the nearest lines are named."""

import pytest

from evolake.jail.file_tools import act
from evolake.text_edits import BOM, Misfit, Replaced, nearest_lines, replaced

PROGRAM = (
    "import math\n\n\ndef area(radius):\n    scale = 2.0\n    return scale * math.pi * radius ** 2\n\n\n"
    "def other():\n    return 0\n"
)
ENDS = ["\n", "\r\n", "\r"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("mark", ["", BOM])
def test_an_edit_of_several_lines_applies_and_the_file_keeps_its_ends(end, mark):
    text = mark + PROGRAM.replace("\n", end)
    head = "import math\n\n\ndef area(radius):\n    scale = "
    done = replaced(text, f"{head}2.0\n", f"{head}3.0\n    new = 1\n", "p.py")
    assert done == Replaced(mark + PROGRAM.replace("2.0\n", "3.0\n    new = 1\n").replace("\n", end), 1)
    later = replaced(
        text, "    return scale * math.pi * radius ** 2\n\n\ndef other", "    return 1\n\n\ndef other", "p.py"
    )
    assert later == Replaced(
        mark + PROGRAM.replace("scale * math.pi * radius ** 2", "1").replace("\n", end), 6
    )


@pytest.mark.parametrize("end", ENDS)
def test_the_edit_tool_of_a_session_takes_files_of_every_line_end(end):
    files = {"p.py": PROGRAM.replace("\n", end)}
    arguments = {"path": "p.py", "search": "scale = 2.0\n    return", "replace": "scale = 1.0\n    return"}
    did = act("edit_file", {"files": files, "arguments": arguments})
    assert did == {
        "text": "p.py was changed at line 5",
        "changed": {"p.py": PROGRAM.replace("2.0", "1.0").replace("\n", end)},
        "fault": "",
    }
    whole = act("write_file", {"files": files, "arguments": {"path": "p.py", "text": "a = 1\nb = 2\n"}})
    assert whole["changed"] == {"p.py": f"a = 1{end}b = 2{end}"}
    shown = act(
        "read_file", {"files": files, "arguments": {"path": "p.py", "first_line": 5, "last_line": 5}}
    )["text"]
    assert shown.splitlines()[0] == "    5      scale = 2.0"


def test_an_edit_that_does_not_apply_names_the_nearest_lines_or_all_places():
    near = replaced(PROGRAM, "def area(r):\n    scale = 2\n    return scale * math.pi * r ** 2", "", "p.py")
    assert isinstance(near, Misfit)
    assert near.reason.startswith(
        "`search` is 0 times in p.py, wanted once; the nearest text there is\n    4  def area("
    )
    assert "    6      return scale * math.pi * radius ** 2" in near.reason
    twice = replaced(PROGRAM, "    return ", "", "p.py")
    assert twice == Misfit(
        "`search` is 2 times in p.py, wanted once: at lines 6, 10; take more of the lines around it"
    )
    assert replaced(PROGRAM, "zzzz qqqq", "", "p.py") == Misfit(
        "`search` is 0 times in p.py, wanted once, and nothing there is like it"
    )


def test_the_nearest_lines_are_found_by_equal_lines_first_and_else_by_likeness():
    text = "\n".join(
        [*(f"x{number} = {number} * 17" for number in range(3000)), "def target():", "    return 41"]
    )
    assert nearest_lines(text, "def target():\n    return 42").splitlines()[0] == " 3001  def target():"
    assert nearest_lines(text, "    retrun 41").strip() == "3002      return 41"
