"""`make bench` runs every benchmark and says which failed or were skipped."""

import bench

MOST = 25
PROGRAM = 'import sys\nif __name__ == "__main__":\n    {}\n'


def test_all_are_run_and_failures_and_skips_are_counted(tmp_path, capfd):
    bodies = {"a": "sys.exit(1)", "b": "print(sys.argv[1:])", "c": f"sys.exit({bench.SKIPPED})"}
    for name, body in bodies.items():
        (tmp_path / f"{name}.py").write_text(PROGRAM.format(body))
    (tmp_path / "helper.py").write_text("")
    found = bench.programs(tmp_path)
    assert [path.stem for path in found] == ["a", "b", "c"]
    assert bench.run_all(found, full=False) == 1
    *_, first, second, third, total = capfd.readouterr().out.splitlines()
    assert ("FAILED (1)" in first, "done" in second, "SKIPPED" in third) == (True, True, True)
    assert total.startswith("3 benchmarks") and total.endswith("1 failed")
    assert bench.run_all(found[1:], full=True) == 0 and "\n[]\n" in capfd.readouterr().out


def test_there_are_few_and_each_has_a_short_form():
    assert len([*bench.FOLDER.glob("*.py")]) <= MOST
    without = [path.stem for path in bench.programs(bench.FOLDER) if "SHORT" not in path.read_text()]
    assert without == []
