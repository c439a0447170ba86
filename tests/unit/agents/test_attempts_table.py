"""The table of attempts in a prompt: compact, the newest and the most similar, and no cell that breaks its
line."""

from evolake.agents.attempts_table import HEAD, LONGEST_IDEA, TriedIdea, attempts_table


def tried(count):
    return [
        TriedIdea(f"{number:04d}", f"c{number}", "p", f"idea number {number}", "blocked")
        for number in range(count)
    ]


def test_nothing_tried_is_no_table():
    assert attempts_table([]) == ""


def test_a_line_has_what_decides():
    item = TriedIdea(
        "0003", "abc", "def", "glue clauses kept longer", "accepted", "+3.1 % (1.0 to 5.2)", "", 12.34
    )
    assert (
        attempts_table([item])
        == f"{HEAD}\n0003 | abc | def | accepted | +3.1 % (1.0 to 5.2) | 12.3 | glue clauses kept longer"
    )


def test_only_the_newest_without_a_direction():
    lines = attempts_table(tried(50), most=10).splitlines()
    assert [line.split(" | ")[1] for line in lines[1:-1]] == [f"c{number}" for number in range(40, 50)]
    assert lines[-1] == "(40 more were tried.)"


def test_older_attempts_that_are_like_the_direction_come_in():
    items = tried(50)
    items[3] = TriedIdea("0001", "c3", "p", "restarts by a Luby sequence", "blocked", reason="lost its duel")
    lines = attempts_table(items, about="try Luby restarts again", most=10).splitlines()
    names = [line.split(" | ")[1] for line in lines[1:-1]]
    assert "c3" in names and len(names) == 10 and names[-5:] == [f"c{number}" for number in range(45, 50)]


def test_a_cell_stays_in_its_line_and_is_cut():
    text = attempts_table([TriedIdea("1", "a", "b", "x | y\nz " + "long " * 200, "unmade", reason="a\n| b")])
    _, line = text.splitlines()
    assert "x / y z long" in line and len(line) < LONGEST_IDEA + 80 and line.endswith("| a / b")
