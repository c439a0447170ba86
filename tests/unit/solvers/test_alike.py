"""No run can be told from another by what it is given: neither the stage that it belongs to nor the answer
that is expected of it.

A program that looks at all there is to see beside the formula's text says what it saw as its number of
conflicts; every stage must give one number.
"""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evolake.lake.blobs import BlobStore
from evolake.settings import load
from evolake.solvers.execute import Program, RunLimits, alike
from evolake.solvers.gates.runs import GateRunner, correctness_runs, smoke_runs, stability_runs
from evolake.solvers.measurement.benchmark import MeasuringPlan, plan_jobs, run_jobs, stage_limits
from evolake.solvers.measurement.duel import Contender, DuelPlan, run_duel
from evolake.solvers.measurement.measuring import measure
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.suites.spec import with_files
from evolake.solvers.tables import DUELS

SPY = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
static unsigned long seen = 14695981039346656037UL;
static void look(const void *data, size_t length) {
    for (const unsigned char *byte = data; length--; ++byte) seen = (seen ^ *byte) * 1099511628211UL;
}
static void number(unsigned long value) { look(&value, sizeof value); }
static void text(const char *value) { look(value, strlen(value) + 1); }
static void file(const char *name) {
    struct stat found;
    memset(&found, 0, sizeof found);
    number(stat(name, &found));
    number(found.st_mode), number(found.st_nlink), number(found.st_uid), number(found.st_gid), number(found.st_mtim.tv_sec);
    if (strstr(name, "proof")) number(found.st_size);
}
int main(int count, char **words) {
    char host[64] = "", place[4096] = "";
    for (int i = 0; i < count; ++i) text(words[i]);
    for (char **entry = environ; *entry; ++entry) text(*entry);
    for (int i = 0; i < RLIMIT_NLIMITS; ++i) {
        struct rlimit limit;
        getrlimit(i, &limit);
        number(limit.rlim_cur), number(limit.rlim_max);
    }
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    number(CPU_COUNT(&cores)), number(getpriority(PRIO_PROCESS, 0)), number(sched_getscheduler(0));
    gethostname(host, sizeof host), text(host);
    if (getcwd(place, sizeof place)) text(place);
    number(getpid()), number(getuid()), number(getgid()), number(isatty(0)), number(isatty(1));
    for (int i = 1; i < count; ++i) file(words[i]);
    if (count > 2) {
        FILE *proof = fopen(words[2], "w");
        if (proof) fputs("0\n", proof), fclose(proof);
    }
    printf("c conflicts %lu\n", seen >> 12);
    return 0;
}
"""  # noqa: E501
SAT, UNSAT, OPEN = b"p cnf 2 2\n1 2 0\n-1 0\n", b"p cnf 1 2\n1 0\n-1 0\n", b"p cnf 3 1\n1 2 3 0\n"


@pytest.fixture
def spy(tmp_path, requires) -> Program:
    requires("c++")
    folder = tmp_path / "program"
    folder.mkdir()
    (tmp_path / "spy.c").write_text(SPY)
    subprocess.run(["gcc", "-O1", "-w", "-o", str(folder / "spy"), str(tmp_path / "spy.c")], check=True)
    return Program(
        folder,
        ("spy", "{cnf}"),
        ("spy", "{cnf}", "{proof}"),
        "drat-text",
        {},
        {"conflicts": r"^c conflicts (\d+)"},
    )


def test_no_stage_and_no_expected_answer_can_be_told_by_a_run(spy, tmp_path):
    blobs, cache = BlobStore(tmp_path / "lake"), tmp_path / "cache"
    known = (("easy", "SAT", SAT), ("hard", "UNSAT", UNSAT), ("open", "unknown", OPEN))
    instances = tuple(Instance(name, "f", status, blobs.put(data), base=name) for name, status, data in known)  # type: ignore[arg-type]
    suite = with_files(Suite("train", instances), blobs, cache)
    limits = stage_limits(load("demo").of(SolversSettings))
    plan = MeasuringPlan(limits.run, proof_share=0.3)
    repeated = MeasuringPlan(limits.run, champions=frozenset({"v"}), repeats=2)
    with ThreadPoolExecutor(2) as executor:
        rows = {
            "smoke": smoke_runs(GateRunner("v", spy, "0001", limits.smoke), suite, cache=cache),
            "correctness": correctness_runs(GateRunner("v", spy, "0001", limits.run), suite),
            "stability": stability_runs(GateRunner("v", spy, "0001", limits.stability), suite),
            "benchmark": run_jobs(plan_jobs({"v": spy}, suite, plan, cycle="0001"), executor).to_dicts(),
            "holdout": run_jobs(plan_jobs({"v": spy}, suite, repeated, cycle="0001"), executor).to_dicts(),
            "duel": DUELS.frame(
                run_duel(DuelPlan(Contender("v", spy), Contender("w", spy), suite, "0001", 2), plan, executor)
            ).to_dicts(),
        }
    assert {name: len(result) for name, result in rows.items()} == {
        "smoke": 9,
        "correctness": 3,
        "stability": 6,
        "benchmark": 3,
        "holdout": 6,
        "duel": 12,
    }
    assert all(row["status"] == "unknown" for result in rows.values() for row in result)
    seen = {(name, row["conflicts"]) for name, result in rows.items() for row in result}
    assert len({number for _, number in seen}) == 1, sorted(seen)
    assert None not in {number for _, number in seen}


def test_what_a_stage_forbids_beyond_what_it_shows_is_held(tmp_path, requires):
    requires("c++")
    folder = tmp_path / "program"
    folder.mkdir()
    (tmp_path / "eater.c").write_text(
        "#include <stdlib.h>\n#include <string.h>\nint main() { memset(malloc(90 << 20), 1, 90 << 20); "
        "return 0; }\n"
    )
    subprocess.run(["gcc", "-O0", "-o", str(folder / "eater"), str(tmp_path / "eater.c")], check=True)
    blobs = BlobStore(tmp_path / "lake")
    suite = with_files(
        Suite("s", (Instance("open", "f", "unknown", blobs.put(OPEN)),)), blobs, tmp_path / "cache"
    )
    tight, loose = alike(RunLimits(cpu_s=2, memory_mb=64), RunLimits(cpu_s=5, memory_mb=512))
    assert tight.shown == loose.shown == RunLimits(cpu_s=5, memory_mb=512)
    [row] = stability_suite_rows(Program(folder, ("eater",)), suite, tight)
    assert row["status"] == "memory"
    [row] = stability_suite_rows(Program(folder, ("eater",)), suite, loose)
    assert row["status"] == "unknown"


def stability_suite_rows(program: Program, suite: Suite, limits: RunLimits) -> list[dict[str, Any]]:
    return correctness_runs(GateRunner("v", program, "0001", limits), suite)


def test_a_run_whose_output_makes_its_reader_raise_is_that_runs_fault(tmp_path, monkeypatch):
    from evolake.solvers import execute
    from evolake.solvers.measurement import measuring

    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "solver").write_text(
        '#!/bin/sh\necho 0 > "$2"; echo "c conflicts ' + "9" * 400 + '"; echo "s UNSATISFIABLE"; exit 20\n'
    )
    (folder / "solver").chmod(0o755)
    counters, tools = {"conflicts": r"^c conflicts (\d+)"}, (Path("/bin/sh"),)
    program = Program(
        folder, ("solver", "{cnf}"), ("solver", "{cnf}", "{proof}"), "drat-text", {}, counters, tools=tools
    )
    blobs = BlobStore(tmp_path / "lake")
    suite = with_files(
        Suite("s", (Instance("hard", "f", "UNSAT", blobs.put(UNSAT)),)), blobs, tmp_path / "cache"
    )
    [job] = plan_jobs({"v": program}, suite, MeasuringPlan(RunLimits()), cycle="0001")
    assert (measure(job)["status"], measure(job)["conflicts"], measure(job)["solved"]) == (
        "unsat",
        None,
        True,
    )

    def trip(*_: Any, **__: Any) -> Any:
        raise RecursionError("too deep")

    monkeypatch.setattr(measuring, "check_once", trip)
    row = measure(job)
    assert (row["status"], row["solved"], row["answer"]) == ("malformed", False, "UNSAT")
    assert row["problems"].startswith("judging it raised RecursionError")
    monkeypatch.setattr(execute, "read_answer", trip)
    assert (measure(job)["status"], measure(job)["answer"]) == ("malformed", None)
