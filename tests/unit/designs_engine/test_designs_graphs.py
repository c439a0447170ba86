"""Graphs as data: canonical form, symbolic sizes, and what the host refuses to believe."""

import copy
import json

import pytest
import torch
from unit.designs_engine.engine_support import (
    BASELINE,
    DESIGN_340,
    SIMPLE,
    VARIABLES,
    after,
    distance,
    small_batch,
    traced,
)

from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.model.graph import Graph, Node, Power, Reference, Symbol
from evolake.designs.model.graph_check import infer
from evolake.designs.model.operators import Setting
from evolake.designs.model.spec import read_variables
from evolake.designs.model.unify import NotUniform, unify
from evolake.designs.tracing.driver import Stop, load, trace
from evolake.designs.tracing.trace import accept


def test_order_of_statements_names_and_operands_do_not_change_the_hash():
    other = SIMPLE.replace(
        "    c = (1 - literals.amax(dim=1)) / 2\n"
        '    dv = torch.zeros_like(vars["v"]).index_add(0, idx.reshape(-1), (sgn * c[:, '
        "None]).reshape(-1))\n",
        '    unused = literals.exp().sum()\n    zero = torch.zeros_like(vars["v"])\n    cost = (1 - '
        "literals.amax(dim=1)) / 2\n    c = cost\n"
        "    dv = zero.index_add(0, idx.reshape(-1), (cost[:, None] * sgn).reshape(-1))\n",
    ).replace('vars["v"][idx] * sgn', 'sgn * vars["v"][idx]')
    assert other != SIMPLE
    assert traced(SIMPLE).graph_sha == traced(other).graph_sha


def test_a_changed_number_or_bound_or_rate_changes_the_hash():
    hashes = {
        traced(source, hyper=hyper).graph_sha
        for source, hyper in [
            (SIMPLE, {}),
            (SIMPLE, {"a": 0.71}),
            (SIMPLE, {"lr": 0.2}),
            (SIMPLE.replace("1e6", "1e5"), {}),
            (SIMPLE.replace("0.25", "0.26"), {}),
            (SIMPLE.replace("torch.ones(s)", "2 * torch.ones(s)"), {}),
        ]
    }
    assert len(hashes) == 6


@pytest.mark.parametrize("path", [BASELINE, DESIGN_340])
def test_a_traced_design_survives_json_and_its_hash_guards_it(path):
    design = traced(path.read_text())
    data = json.loads(json.dumps(design.to_json()))
    assert TracedDesign.from_json(data) == design
    data["graph"]["gradient"]["nodes"][-1][0] = "add.Tensor"
    with pytest.raises(ValueError, match="graph_sha"):
        TracedDesign.from_json(data)


def scaled_by(value):
    return Graph((Node("mul.Tensor", (Reference(0), value)),), (("x", 0),))


POINTS = ((5, 11, 47), (7, 101, 433), (6, 997, 4271), (11, 23, 89))


@pytest.mark.parametrize(
    ("of_size", "form"),
    [
        (lambda b, n, m: 7, 7),
        (lambda b, n, m: m, Symbol(0, 0, 1, 0)),
        (lambda b, n, m: 3 * m - n + 2, Symbol(0, -1, 3, 2)),
        (lambda b, n, m: 1 / m, Power(1.0, 0.0, -1.0)),
        (lambda b, n, m: 2 * n**0.5 / m, Power(2.0, 0.5, -1.0)),
        (lambda b, n, m: 0.5, 0.5),
    ],
)
def test_numbers_that_follow_the_size_become_symbols(of_size, form):
    merged = unify([scaled_by(of_size(*point)) for point in POINTS], POINTS, batched=False)
    got = merged.nodes[0].args[1]
    assert type(got) is type(form)
    if isinstance(form, Power):
        assert (round(got.factor, 12), got.variables, got.clauses) == (
            form.factor,
            form.variables,
            form.clauses,
        )
    else:
        assert got == form


@pytest.mark.parametrize(
    "of_size",
    [
        lambda b, n, m: int(0.01 * m),
        lambda b, n, m: n * m,
        lambda b, n, m: 1 / (n + 3),
        lambda b, n, m: n > 50,
    ],
)
def test_numbers_that_follow_it_otherwise_are_not_uniform(of_size):
    with pytest.raises(NotUniform):
        unify([scaled_by(of_size(*point)) for point in POINTS], POINTS, batched=False)


def test_a_design_that_branches_on_the_size_is_traced_at_one_size_only():
    source = SIMPLE.replace(
        '    return {"v"', '    if len(vars["v"]) > 60:\n        c = c * 0.5\n    return {"v"'
    )
    assert trace(source, {"hyper": {}, "dtype": "float32", "size": None})["gate"] == "size"
    design = traced(source, size=(70, 301), dtype="float64")
    instances = small_batch(70, 2)
    assert design.size == (70, 301)
    assert distance(after(design, "reference", instances)[1], after(design, "auto", instances)[1]) < 1e-12


def reply():
    answer = trace(SIMPLE, {"hyper": {}, "dtype": "float32", "size": None})
    return json.loads(json.dumps(answer))


def changed(answer, edit):
    edited = copy.deepcopy(answer)
    edit(edited)
    return accept(edited, {}, "float32", None)


FORGERIES = {
    "an operator off the list": (
        lambda r: r["graph"]["gradient"]["nodes"].__setitem__(0, ["linalg_svd.default", [], {}]),
        "operators",
    ),
    "a python callback": (
        lambda r: r["graph"]["gradient"]["nodes"].__setitem__(0, ["input", ["__import__"], {}]),
        "graph",
    ),
    "a forward reference": (
        lambda r: r["graph"]["gradient"]["nodes"][0].__setitem__(1, [{"ref": 5}]),
        "graph",
    ),
    "a wrong shape": (
        lambda r: r["graph"]["gradient"]["outputs"].__setitem__("v", r["graph"]["gradient"]["outputs"]["xl"]),
        "contract",
    ),
    "a missing output": (lambda r: r["graph"]["gradient"]["outputs"].pop("v"), "contract"),
    "no graph at all": (lambda r: r.__setitem__("graph", {"gradient": 7, "initial": {}}), "graph"),
    "no initial values": (lambda r: r["graph"]["initial"].pop("v"), "graph"),
    "bounds that are no numbers": (lambda r: r["variables"][0].__setitem__(2, "low"), "contract"),
    "two variables of one name": (lambda r: r["variables"].append(r["variables"][0]), "contract"),
    "a shape nobody has": (lambda r: r["variables"][0].__setitem__(1, ["B", "Q"]), "contract"),
    "a type nobody has": (
        lambda r: r["graph"]["initial"]["v"]["nodes"].append(
            ["zeros.default", [[3]], {"dtype": {"dtype": "complex64"}}]
        ),
        None,
    ),
    "a huge tensor": (
        lambda r: r["graph"]["gradient"].update(
            nodes=[
                ["zeros.default", [[{"size": [0, 1, 0, 0]}, {"size": [0, 0, 1, 0]}]], {}],
                ["sum.dim_IntList", [{"ref": 0}, [1]], {}],
                ["sum.dim_IntList", [{"ref": 0}, [0]], {}],
            ],
            outputs={"v": 1, "xl": 2, "xs": 2},
        ),
        "graph",
    ),
    "hyperparameters out of their range": (lambda r: r["hypers"][0].__setitem__(2, 99.0), "contract"),
    "text for variables": (lambda r: r.__setitem__("variables", "v"), "contract"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_reply_is_blocked_by_the_host(name):
    edit, gate = FORGERIES[name]
    result = changed(reply(), edit)
    if gate is None:
        assert isinstance(result, TracedDesign)
    else:
        assert isinstance(result, Blocked)
        assert result.gate == gate


WRONG_VARIABLES = [
    {},
    {"v": 1},
    {"v": {"init": 1, "shape": ("B", "N"), "bounds": (0, 1)}},
    {"v": {"init": len, "shape": ("B", "N")}},
    {"v": {"init": len, "shape": ("N",), "bounds": (0, 1)}},
    {"v": {"init": len, "shape": ("B", "N"), "bounds": (float("nan"), 1)}},
    {"v": {"init": len, "shape": ("B", "N"), "bounds": (2, 1)}},
    {"x": {"init": len, "shape": ("B", "N"), "bounds": (0, 1)}},
    {"v": {"init": len, "shape": ("B", "N", 1000), "bounds": (0, 1)}},
]


@pytest.mark.parametrize("spec", WRONG_VARIABLES, ids=range(len(WRONG_VARIABLES)))
def test_variables_that_are_none_are_refused(spec):
    with pytest.raises(ValueError, match=r"."):
        read_variables(spec)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(:", "line 1"),
        ("1/0", "ZeroDivisionError"),
        (VARIABLES, "no _grad_single"),
        ("raise SystemExit", "SystemExit"),
        ("x = 1", "no VARIABLES_SPEC, no HYPER_SPACE, no _grad_single"),
    ],
)
def test_a_file_that_does_not_load_says_why(source, words):
    with pytest.raises(Stop, match=words):
        load(source)


def test_shapes_that_are_known_are_those_of_the_same_call_alone():
    """1, 1.0 and True are equal in Python; torch gives them other types."""
    setting = Setting(torch.float32, 2, 5, 20, "meta")
    kinds = []
    for stop in (4, 4.0, 4, 4.0):
        nodes = (Node("arange.default", (stop,)), Node("add.Tensor", (Reference(0), 1)))
        kinds.append([value.dtype for value in infer(Graph(nodes, (("v", 1),)), {}, setting)])
    assert kinds[0] == kinds[2] == [torch.int64, torch.int64]
    assert kinds[1] == kinds[3] == [torch.float32, torch.float32]
    nodes = (Node("ones.default", ((Symbol(0, 0, 0, 3), 4),)), Node("mul.Tensor", (Reference(0), 0.5)))
    for value in (0.5, 2.5, 7):
        nodes = (*nodes[:1], Node("mul.Tensor", (Reference(0), value)))
        shapes = infer(Graph(nodes, (("v", 1),)), {}, setting)
        assert [tuple(item.shape) for item in shapes] == [(3, 4), (3, 4)]
    fresh = Setting(torch.float64, 2, 5, 20, "meta")
    assert infer(Graph(nodes, (("v", 1),)), {}, fresh)[1].dtype == torch.float64
