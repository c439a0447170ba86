"""Tasks on who tells the truth: two webs of lies, and knights and knaves."""

# A paragraph of a statement is one line, however long.
# ruff: noqa: E501

from foreign_tasks.writing import task

GYM_LIES = task(
    "web-of-lies",
    "logical",
    "boolean",
    generator="""
import random

NAMES = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo", "Kay", "Lou", "Max", "Nan"]


def input(difficulty):
    names = random.sample(NAMES, 3 + difficulty)
    first = random.random() < 0.5
    sayings = [[name, other, random.random() < 0.5] for other, name in zip(names, names[1:])]
    lines = [f"{name} says that {other} {'tells the truth' if honest else 'lies'}." for name, other, honest in sayings]
    return (
        {"first": names[0], "honest": first, "sayings": sayings},
        [f"{names[0]} {'tells the truth' if first else 'lies'}.", " ".join(lines), names[-1]],
    )
""",
    template="""
Every person either always tells the truth or always lies. [Input Slot 1] [Input Slot 2]

<!-- question -->
Does [Input Slot 3] tell the truth?
""",
    reader="""
import re


def read(text):
    first = re.search(r"always lies\\. (\\w+) (tells the truth|lies)\\.", text)
    found = re.findall(r"(\\w+) says that (\\w+) (tells the truth|lies)\\.", text)
    sayings = [[name, other, said == "tells the truth"] for name, other, said in found]
    if sayings[-1][0] != re.search(r"Does (\\w+) tell", text).group(1):
        raise ValueError("another person is asked for")
    return {"first": first.group(1), "honest": first.group(2) == "tells the truth", "sayings": sayings}
""",
    validators=(
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "sayings" not in inputs:
        return {"status": "schema_error", "detail": "sayings"}
    honest = inputs["honest"]
    for _, _, said in inputs["sayings"]:
        honest = honest == said
    return honest
""",
        """
def solution(inputs):
    if not isinstance(inputs, dict) or "sayings" not in inputs:
        return {"status": "schema_error", "detail": "sayings"}
    lies = sum(not said for _, _, said in inputs["sayings"]) + (not inputs["honest"])
    return lies % 2 == 0
""",
        """
from itertools import product


def solution(inputs):
    if not isinstance(inputs, dict) or "sayings" not in inputs:
        return {"status": "schema_error", "detail": "sayings"}
    names = [inputs["first"], *(name for name, _, _ in inputs["sayings"])]
    for values in product([False, True], repeat=len(names)):
        who = dict(zip(names, values))
        if who[inputs["first"]] == inputs["honest"] and all(who[name] == (who[other] == said) for name, other, said in inputs["sayings"]):
            return who[names[-1]]
""",
    ),
)
_KINDS = """
import random

NAMES = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida"]


def input(difficulty):
    names = NAMES[: 3 + difficulty // 2]
    while True:
        truth = {name: random.random() < 0.5 for name in names}
        sayings = [one(name, names, truth) for name in names for _ in range(2)]
        if fitting(names, sayings) == 1:
            return {"names": names, "sayings": sayings}, [", ".join(names), "\\n".join(f"- {name}: {SHOWN}" for name, *said in sayings)]


def one(name, names, truth):
    first, second = random.sample(names, 2)
    kind = random.choice(["both", "either", "same"])
    holds = value(kind, truth[first], truth[second])
    return [name, kind if holds == truth[name] else "not " + kind, first, second]


def value(kind, first, second):
    return {"both": first and second, "either": first or second, "same": first == second}[kind]


def fitting(names, sayings):
    count = 0
    for number in range(2 ** len(names)):
        who = {name: bool(number >> place & 1) for place, name in enumerate(names)}
        count += all(who[name] == (value(kind.removeprefix("not "), who[one], who[two]) != kind.startswith("not ")) for name, kind, one, two in sayings)
    return count
"""
_GENERATOR = _KINDS.replace("{SHOWN}", "{said[1]} and {said[2]}: {said[0]}")
_READER = """
import re


def read(text):
    names = re.search(r"[Pp]eople(?: are)?: ([\\w, ]+)\\.", text).group(1).split(", ")
    found = re.findall(r"- (\\w+): (\\w+) and (\\w+): ((?:not )?(?:both|either|same))", text)
    return {"names": names, "sayings": [[name, kind, one, two] for name, one, two, kind in found]}
"""
_SEARCH = """
from itertools import product


def solution(inputs):
    if not isinstance(inputs, dict) or "sayings" not in inputs:
        return {"status": "schema_error", "detail": "sayings"}
    for values in product([True, False], repeat=len(inputs["names"])):
        who = dict(zip(inputs["names"], values))
        if all(who[name] == holds(kind, who[one], who[two]) for name, kind, one, two in inputs["sayings"]):
            return %s


def holds(kind, one, two):
    if kind.endswith("both"):
        result = one and two
    elif kind.endswith("either"):
        result = one or two
    else:
        result = one == two
    return result != kind.startswith("not")
"""
_BACK = """
RULES = {"both": lambda one, two: one & two, "either": lambda one, two: one | two, "same": lambda one, two: 1 - (one ^ two)}


def solution(inputs):
    if not isinstance(inputs, dict) or "sayings" not in inputs:
        return {"status": "schema_error", "detail": "sayings"}
    order = inputs["names"]
    stack = [{}]
    while stack:
        known = stack.pop()
        if any(contradicts(known, saying) for saying in inputs["sayings"]):
            continue
        if len(known) == len(order):
            return %s
        name = order[len(known)]
        stack += [{**known, name: 0}, {**known, name: 1}]


def contradicts(known, saying):
    name, kind, one, two = saying
    if not {name, one, two} <= known.keys():
        return False
    value = RULES[kind.split()[-1]](known[one], known[two])
    return known[name] != (1 - value if "not" in kind else value)
"""
_SETS = """
def solution(inputs):
    if not isinstance(inputs, dict) or "sayings" not in inputs:
        return {"status": "schema_error", "detail": "sayings"}
    worlds = [frozenset()]
    for name in inputs["names"]:
        worlds += [world | {name} for world in worlds]
    for name, kind, one, two in inputs["sayings"]:
        worlds = [world for world in worlds if (name in world) == said(kind, len({one, two} & world))]
    [world] = worlds
    return %s


def said(kind, honest):
    word = kind.replace("not ", "")
    fits = honest == 2 if word == "both" else honest > 0 if word == "either" else honest != 1
    return not fits if kind.startswith("not ") else fits
"""
_MEANING = """"both" says that both of the named people are {kind}, "either" that one of them or both are, "same" that both are or neither is. "not" before it says the
opposite."""
SYNLOGIC_LIES = task(
    "synlogic-web-of-lies",
    "logical",
    "string",
    generator=_GENERATOR,
    template="""
In a group each person either always tells the truth or always lies. The people are: [Input Slot 1].

Each of them says something about other people:

[Input Slot 2]

"""
    + _MEANING.replace("{kind}", "truthful")
    + """

<!-- question -->
Who tells the truth? Say yes or no for each person in the order above, divided by commas and without blanks, as in yes,no,yes.
""",
    reader=_READER,
    validators=(
        _SEARCH % '",".join("yes" if value else "no" for value in values)',
        _BACK % '",".join(["no", "yes"][known[name]] for name in order)',
        _SETS % '",".join("yes" if name in world else "no" for name in inputs["names"])',
    ),
)
ENIGMATA_KNIGHTS = task(
    "knights-and-knaves",
    "logical",
    "list",
    generator=_GENERATOR.replace("3 + difficulty // 2", "4 + difficulty // 3"),
    template="""
On an island each person is a knight or a knave. Knights always tell the truth and knaves always lie. You meet these people: [Input Slot 1].

They say:

[Input Slot 2]

"""
    + _MEANING.replace("{kind}", "knights")
    + """

<!-- question -->
Who are the knights? Give the list of their names in the order above, each name in double quotes.
""",
    reader=_READER,
    validators=(
        _SEARCH % "[name for name, value in who.items() if value]",
        _BACK % "[name for name in order if known[name]]",
        _SETS % '[name for name in inputs["names"] if name in world]',
    ),
)
