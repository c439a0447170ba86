"""What a --help says that a solver accepts, what kind formulas are of, and how settings are written."""

import pytest

from evolake.reading.formula import formula_of
from evolake.solvers.execute import Program
from evolake.solvers.tuning.command_line import Setting, read_help
from evolake.solvers.tuning.kinds import kinds, kinds_sentence, shape_of

SHORT = """\
USAGE: small [options] <file>

CORE OPTIONS:

  -luby, -no-luby                         (default: on)
  -verbose, -no-verbose                   (default: off)
  -decay        = <double> (   0 ..    1) (default: 0.95)
  -first        = <int32>  [   1 .. imax] (default: 100)
  -bad          = <int32>  [   5 .. imax] (default: 4)
  -rnd-seed     = <double> (   0 ..  inf) (default: 9.16483e+07)
  -proof = <string>
"""
LONG = """\
usage: large [ <option> ... ] <file>
  --plain        no preprocessing
  --sat          target satisfiable formulas
  --version      print version
  --bump=bool                bump variables [true]
  --bumpreason=<bool>        bump reason literals [false]
  --chrono=0..2              chronological backtracking [1]
  --effort=0..1e5            effort in promille [1e2]
  --low=-1..9                may be negative [-1]
  --twice=0..9               listed [1]
  --twice=0..9               and listed again [2]
  --checkproof=0..3          says what is stored [3]
"""


def test_the_short_form_of_help():
    line = read_help(SHORT)
    assert (line.form, line.presets) == ("-", ())
    assert sorted(line.options) == ["decay", "first", "luby"], "without words, seeds, proofs, a bad default"
    assert (line.options["decay"].low, line.options["decay"].default) == (1e-9, 0.95)
    assert line.options["first"].problem(0) and line.options["first"].problem(2**31 - 1) is None
    setting = Setting("", (("decay", 0.9), ("first", 50), ("luby", False)))
    assert line.words(setting) == ("-decay=0.9", "-first=50", "-no-luby")


def test_the_long_form_of_help():
    line = read_help(LONG)
    assert (line.form, line.presets) == ("--", ("plain", "sat"))
    assert sorted(line.options) == ["bump", "bumpreason", "chrono", "effort", "low"]
    assert line.options["effort"].default == 100 and line.options["low"].low == -1
    setting = Setting("sat").moved("effort", 30).moved("bump", False)
    assert line.words(setting) == ("--sat", "--bump=false", "--effort=30")
    assert line.words(setting.without("effort")) == ("--sat", "--bump=false")


@pytest.mark.parametrize("text", ["", "no options here", "--x=nan..nan  odd [nan]", "--x=1..2 no default"])
def test_a_help_without_options_has_none(text):
    assert not read_help(text).options


def test_options_come_before_the_formula_on_both_command_lines(tmp_path):
    program = Program(tmp_path, ("large", "{cnf}"), ("large", "{cnf}", "{proof}"), "drat-text")
    known = read_help(LONG).with_setting(program, Setting("sat", (("chrono", 0),)))
    assert known.argv == ("large", "--sat", "--chrono=0", "{cnf}")
    assert known.proof_argv == ("large", "--sat", "--chrono=0", "{cnf}", "{proof}")
    assert read_help(LONG).with_setting(program, Setting("")) == program


def test_formulas_of_one_shape_are_of_one_kind_and_others_are_not():
    threes = [
        formula_of(n, [[1, 2, 3]] * round(density * n)) for n, density in ((50, 3.8), (60, 4.4), (90, 5.2))
    ]
    others = [formula_of(40, [[1, 2]] * 100), formula_of(40, [[1, -2]] * 120)]
    shapes = [shape_of(formula) for formula in (*threes, *others)]
    assert kinds(shapes) == [[0, 1, 2], [3, 4]]
    assert kinds_sentence(shapes[:3]) == "one kind by their shape: 50 to 90 variables, 190 to 468 clauses"
    assert "2 kinds" in kinds_sentence(shapes) and "(of 3, 2 formulas)" in kinds_sentence(shapes)
    assert kinds([shape_of(formula_of(3, []))]) == [[0]], "a formula without clauses has a shape, too"
