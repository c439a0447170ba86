"""A scripted model for the roles of the solvers line behind a real HTTP server: it plans, and writes real
diffs of a seed, some of them faulty.

It is no model and shows nothing about models. What it does in which cycle stands in `PLANNED` and `WRITTEN`;
a plan's instructions name its entry, so that the coder's prompts lead back to it.
"""

import re
import shutil
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from loopback_model import Action, Asked, call, say

from evolake.solvers.objectives.portfolio import first_objective
from evolake.solvers.repository.variant import diff_sources, source_sha

SOLVER = "src/core/Solver.cc"
DECAY, CLAUSES = (
    '"The variable activity decay factor",            0.95',
    '"The clause activity decay factor",              0.999',
)
SEARCH = "    // Search:\n    int curr_restarts = 0;\n"
WALK = """    // First phases by local search, as the walk of CaDiCaL and Kissat: WalkSAT (Selman, Kautz and Cohen, 1994), bounded.
    vec<vec<int> > holders(2 * nVars());
    vec<int> made(clauses.size(), 0), place(clauses.size(), -1), broken;
    for (int i = 0; i < clauses.size(); i++) {
        const Clause& c = ca[clauses[i]];
        for (int j = 0; j < c.size(); j++) {
            holders[toInt(c[j])].push(i);
            if (value(c[j]) == l_True || (value(c[j]) == l_Undef && polarity[var(c[j])] == sign(c[j]))) made[i]++;
        }
        if (made[i] == 0) { place[i] = broken.size(); broken.push(i); }
    }
    double walk_seed = 91648253;
    for (int left = 100000; left > 0 && broken.size() > 0; left--) {
        const Clause& c = ca[clauses[broken[irand(walk_seed, broken.size())]]];
        Lit chosen = lit_Undef;
        int fewest = clauses.size() + 1;
        for (int j = 0; j < c.size(); j++) {
            if (value(c[j]) != l_Undef) continue;
            int breaks = 0;
            const vec<int>& theirs = holders[toInt(~c[j])];
            for (int k = 0; k < theirs.size(); k++) breaks += made[theirs[k]] == 1;
            if (breaks < fewest) { fewest = breaks; chosen = c[j]; }
        }
        if (fewest > 0 && drand(walk_seed) < 0.5) chosen = c[irand(walk_seed, c.size())];
        if (chosen == lit_Undef || value(chosen) != l_Undef) continue;
        polarity[var(chosen)] = sign(chosen);
        const vec<int>& gained = holders[toInt(chosen)];
        for (int k = 0; k < gained.size(); k++)
            if (made[gained[k]]++ == 0) {
                int hole = place[gained[k]];
                broken[hole] = broken.last();
                place[broken[hole]] = hole;
                place[gained[k]] = -1;
                broken.pop();
            }
        const vec<int>& lost = holders[toInt(~chosen)];
        for (int k = 0; k < lost.size(); k++)
            if (--made[lost[k]] == 0) { place[lost[k]] = broken.size(); broken.push(lost[k]); }
    }

"""  # noqa: E501
"""An improvement that is known to be one: on satisfiable formulas whose solutions local search finds, the
search then meets no conflict at all."""
AFTER_CONFLICT = "            claDecayActivity();\n"
CHANGES: dict[str, tuple[str, str]] = {
    "decay": (DECAY, DECAY.replace("0.95", "0.85")),
    "clauses": (CLAUSES, CLAUSES.replace("0.999", "0.995")),
    "walk": (SEARCH, WALK + SEARCH),
    "undeclared": (AFTER_CONFLICT, AFTER_CONFLICT + "            luckyRestart();\n"),
    "undeclared still": (AFTER_CONFLICT, AFTER_CONFLICT + "            luckyRestart(conflicts);\n"),
    "undeclared to the end": (AFTER_CONFLICT, "            luckyRestart(decisions);\n" + AFTER_CONFLICT),
    "clock": (AFTER_CONFLICT, AFTER_CONFLICT + "            if (cpuTime() > 1) var_inc *= 2;\n"),
    "clock still": (AFTER_CONFLICT, AFTER_CONFLICT + "            if (cpuTime() > 2) var_inc *= 2;\n"),
}
"""Name of a change -> what stands in the seed's solver, and what comes in its place."""
SEED = "double walk_seed ="
MISFIT = "misfit"
"""A change whose diff has a wrong line of context."""
WRITTEN: dict[str, tuple[str, ...]] = {
    "good": ("decay",),
    "does-not-apply": (MISFIT, "clauses"),
    "does-not-compile": ("undeclared", "undeclared still"),
    "reads-a-clock": ("clock", "clock still"),
    "later": ("walk",),
    "learnt-nothing": ("undeclared to the end",),
}
"""Name of a plan -> what the coder writes at first and when it is told what is wrong; of a session, what it
leaves."""
PLANNED = {
    "0001": ("good", "does-not-apply", "does-not-compile", "reads-a-clock"),
    "0002": ("later", "learnt-nothing"),
}
RULE = "no-lucky-restart"


def _edit(old: str, new: str) -> tuple[str, dict[str, str]]:
    return "edit_file", {"path": SOLVER, "search": old, "replace": new}


def _finish(name: str) -> tuple[str, dict[str, str]]:
    return "finish", {"title": name, "changelog": f"Changed the solver after the plan {name}."}


SESSIONS: dict[str, tuple[tuple[tuple[str, dict[str, Any]], ...], ...]] = {
    "later": (
        (("list_files", {"path": "src/core"}), ("grep", {"pattern": "polarity", "path": "src"})),
        (("read_file", {"path": SOLVER, "first_line": 766, "last_line": 808}),),
        (_edit(SEARCH, WALK.replace(SEED, "double seed =") + SEARCH),),
        (("build", {}),),
        (_edit("double seed =", SEED),),
        (("build", {}), ("smoke", {"formulas": 2})),
        (("bench", {"formulas": 1}),),
        (_finish("later"),),
    ),
    "learnt-nothing": ((_edit(*CHANGES["undeclared to the end"]),), (_finish("learnt-nothing"),)),
}
"""Name of a plan of the second cycle -> the turns of its session: an expert that breaks the build and mends
it, and a fool that never builds."""
PAR2 = first_objective().source
OBJECTIVES: dict[str, str] = {
    "backwards": (
        "import math\n\n\ndef objective(results):\n    return -math.fsum(row['cpu_s'] for row in results)\n"
    ),
    "raises": (
        'def objective(results):\n    raise ValueError(f\'PAR-2 is {sum(row["cpu_s"] for row in '
        "results)}')\n"
    ),
    "par2-again": PAR2,
}
"""Description of an objective -> its text. The first may vote, and disagrees with all; the second raises,
with a figure that no role may see."""


class ScriptedSolvers:
    """A script for `LoopbackModel`. `says` counts what was answered, by the kind of reply. seed: the seed's
    repository."""

    def __init__(self, seed: Path):
        self.seed = seed
        self.parent = source_sha(seed)
        self.says: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Action:
        if "tools" in asked.body:
            with self._lock:
                self.says["turn"] += 1
            return self._turn(asked)
        wanted = (asked.response_format or {})["json_schema"]["schema"]["properties"]
        text = "\n".join(message["content"] for message in asked.messages)
        kind = next(
            name
            for name in ("plans", "regions", "changelog", "findings", "check", "source")
            if name in wanted
        )
        if kind == "changelog" and "# Why it could not be used" in text:
            kind = "repair"
        if kind == "changelog" and "# What was measured" in text:
            kind = "revise"
        with self._lock:
            self.says[kind] += 1
            number = self.says[kind]
        return say(self._source(number - 1) if kind == "source" else getattr(self, f"_{kind}")(text))

    def diff(self, change: str) -> str:
        """The diff of a change, against the seed."""
        if change == MISFIT:
            return self.diff("clauses").replace("opt_var_decay", "opt_variable_decay")
        old, new = CHANGES[change]
        with tempfile.TemporaryDirectory() as folder:
            changed = Path(folder) / "variant"
            shutil.copytree(self.seed, changed)
            text = (changed / SOLVER).read_text()
            assert text.count(old) == 1
            (changed / SOLVER).write_text(text.replace(old, new))
            return diff_sources(self.seed, changed)

    def _turn(self, asked: Asked) -> Action:
        """The next turn of the session on the plan that the prompt names; of the analyst's, a look at one
        incident, and the findings."""
        if asked.messages[0]["content"].startswith("You examine one cycle"):
            text = asked.messages[1]["content"]
            [blocked] = re.findall(r"^([0-9a-f]{12}) \(\S+\): blocked at compliance", text, re.MULTILINE)
            incident = f"incidents/{blocked}/"
            turns = [
                (("list_files", {"path": "incidents"}), ("read_file", {"path": f"{incident}told.md"})),
                (("grep", {"pattern": "luckyRestart"}),),
                (("finish", self._findings(text)),),
            ]
            return call(*turns[sum(message["role"] == "assistant" for message in asked.messages)])
        turns = SESSIONS[played("\n".join(message["content"] for message in asked.messages[:2]))]
        return call(*turns[sum(message["role"] == "assistant" for message in asked.messages)])

    def _plans(self, text: str) -> dict[str, Any]:
        [cycle] = re.findall(r"^Cycle (\d{4});", text, re.MULTILINE)
        plans = [
            {
                "parent_id": self.parent[:12],
                "second_parent_id": None,
                "kind": "rewrite",
                "hypothesis": f"The change {name} solves more.",
                "instructions": f"Play: {name}.",
                "target": "",
            }
            for name in PLANNED[cycle]
        ]
        return {"assessment": "One seed, nothing tried that helps.", "plans": plans}

    def _regions(self, text: str) -> dict[str, Any]:
        return {"regions": [{"path": SOLVER, "first_line": 25, "last_line": 50}], "rationale": "The options."}

    def _changelog(self, text: str) -> dict[str, Any]:
        return self._code(text, 0)

    def _repair(self, text: str) -> dict[str, Any]:
        return self._code(text, 1)

    def _revise(self, text: str) -> dict[str, Any]:
        return {
            "title": "kept",
            "changelog": "Kept as it is.",
            "diff": "",
            "edits": None,
            "dropped": [],
            "operator": None,
        }

    def _code(self, text: str, attempt: int) -> dict[str, Any]:
        name = played(text)
        changed = f"Changed the solver after the plan {name}."
        return {
            "title": name,
            "changelog": changed,
            "diff": self.diff(WRITTEN[name][attempt]),
            "edits": None,
            "dropped": [],
            "operator": None,
        }

    def _findings(self, text: str) -> dict[str, Any]:
        incidents = re.findall(r"^([0-9a-f]{12}) \(\S+\): \w+ at (\w+)", text, re.MULTILINE)
        named = [variant for variant, gate in incidents if gate == "build"]
        finding = {
            "title": "luckyRestart does not exist",
            "lesson": "forbidden",
            "subject": "luckyRestart",
            "explanation": "The solver has no such function, so the build fails.",
            "evidence": named,
        }
        return {
            "assessment": "A call of a function that does not exist.",
            "findings": [finding] if named else [],
        }

    def _check(self, text: str) -> dict[str, Any]:
        [evidence] = set(re.findall(r"evidence:\s*- ([0-9a-f]{12})", text))
        return {
            "name": RULE,
            "lesson": "forbidden",
            "check": "solvers.forbidden_pattern",
            "parameters": {"kind": "call", "name": "^luckyRestart$"},
            "rationale": "A build for a function that does not exist is wasted.",
            "evidence": [evidence],
        }

    def _source(self, number: int) -> dict[str, Any]:
        name = list(OBJECTIVES)[number]
        return {
            "description": name,
            "source": OBJECTIVES[name],
            "family": "par2",
            "parameters": {"PENALTY": 2.0},
        }


def played(text: str) -> str:
    """The plan that a prompt is about."""
    [name] = set(re.findall(r"Play: ([a-z-]+)\.", text))
    return name
