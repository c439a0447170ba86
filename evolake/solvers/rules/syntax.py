"""What a C++ source says, as facts that rules can count: calls, names, includes, static state, literals,
declared options.

A text search cannot distinguish a call from a comment, nor new code from old. So a file is parsed by
tree-sitter and cut into units: one for each function, one for all the rest of the file. A unit bears a digest
of its tokens (comments and layout do not count) and a multiset of facts. Parsing never fails: what the
grammar does not know stays in the tree as an error node whose tokens are read like others, and the body of a
macro is parsed as a statement.

Facts are a lint that names a cause early. What holds a solver that hides from them is the jail.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evolake.solvers.rules.tokens import plain_text

if TYPE_CHECKING:
    from tree_sitter import Node

FILE_SCOPE = ""
LONGEST_TEXT = 160
LONGEST_SCOPE = 1000
LONGEST_PLAIN_ARRAY = 32
"""An initializer with more number literals than this is a fact of kind `array`."""
LONGEST_OPTION = 2000
FUNCTION_TYPES = ("function_definition", "inline_method_definition")
SCOPE_TYPES = ("class_specifier", "struct_specifier", "namespace_definition")
NAME_TYPES = (
    "identifier",
    "type_identifier",
    "field_identifier",
    "namespace_identifier",
    "statement_identifier",
)
LOCAL_TYPES = (*FUNCTION_TYPES, "compound_statement", "field_declaration_list")
DEEPEST_TREE = 1000
"""Levels of a syntax tree that is read: the time of facts grows with its depth."""
MUTABLE_EXEMPT = ("const", "constexpr", "consteval")
SIZE_COMPARISONS = ("==", "!=")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_DECLARED_OPTION = re.compile(r'\(\s*[^,]*,\s*"([^"]+)"\s*,\s*(?:"(?:[^"\\]|\\.)*"\s*)+,\s*([^,)]+)')
"""`static DoubleOption opt_x(_cat, "x", "what it does", 0.5, ...)` of MiniSat and its kin."""
_TABLED_OPTION = re.compile(r"\bOPTION\s*\(\s*(\w+)\s*,\s*([^,]+),")
"""`OPTION( x, 5, ...)` inside the option table of CaDiCaL."""
_SPACE = re.compile(r"\s+")


class TooDeep(ValueError):
    """The syntax of a file is nested deeper than is read."""


class Fact(NamedTuple):
    """One thing that a unit says.

    kind: call, member-call, name, include, static, string, number-array, equals, object, option, macro-paste,
    assembler, pragma, return. name: what rules match first: the callee, the included path, the declared
    variable, the type of an object, the option. text: the source around it.
    """

    kind: str
    name: str
    text: str


@dataclass(frozen=True)
class Unit:
    """One function, or (name "") what a file holds outside its functions. `line` is where it begins, from
    1."""

    name: str
    line: int
    digest: str
    facts: Counter[Fact]


@lru_cache(maxsize=256)
def units(source: bytes) -> tuple[Unit, ...]:
    """Return the units of one file, in order of their lines; the file's own unit comes first.

    Raises:
        TooDeep: its syntax is nested deeper than DEEPEST_TREE.
    """
    from tree_sitter import Parser

    tree = Parser(_language()).parse(plain_text(source))
    functions = list(_functions(tree.root_node))
    inside = {node.id for node, _ in functions}
    result = [_unit(tree.root_node, FILE_SCOPE, inside)]
    return tuple(result + [_unit(node, name, inside - {node.id}) for node, name in functions])


def function_lines(source: bytes) -> list[tuple[str, int, int]]:
    """Return every function of one file that is cut at its borders: qualified name, first and last line (from
    1), in order."""
    from tree_sitter import Parser

    root = Parser(_language()).parse(source).root_node
    return sorted(
        ((name, node.start_point.row + 1, node.end_point.row + 1) for node, name in _functions(root)),
        key=lambda item: item[1:],
    )


@lru_cache(maxsize=1)
def _language() -> Any:
    import tree_sitter_cpp
    from tree_sitter import Language

    return Language(tree_sitter_cpp.language())


def _functions(root: Node) -> Iterator[tuple[Node, str]]:
    """Every function with its qualified name. Functions inside a function (lambdas, local classes) belong to
    it."""
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, scope = stack.pop()
        if node.type in FUNCTION_TYPES:
            yield node, _function_name(node, scope)
            continue
        if (
            node.type in SCOPE_TYPES
            and (named := node.child_by_field_name("name"))
            and node.type != "namespace_definition"
        ):
            scope = f"{scope}{_text(named)}::"[-LONGEST_SCOPE:]
        stack += [(child, scope) for child in reversed(node.children)]


def _function_name(node: Node, scope: str) -> str:
    declarator = node.child_by_field_name("declarator")
    while (
        declarator is not None
        and declarator.type != "function_declarator"
        and (inner := declarator.child_by_field_name("declarator"))
    ):
        declarator = inner
    if declarator is None:
        return f"{scope}(unnamed)"
    name = declarator.child_by_field_name("declarator") or declarator
    return scope + _SPACE.sub("", _text(name))[:LONGEST_TEXT]


def _unit(node: Node, name: str, left_out: set[int]) -> Unit:
    facts: Counter[Fact] = Counter()
    digest = hashlib.sha256()
    stack = [(node, 0, name != FILE_SCOPE)]
    read: list[tuple[Node, bool]] = []
    while stack:
        current, depth, local = stack.pop()
        if depth > DEEPEST_TREE:  # before any fact is made: the text of each level holds that of all below
            raise TooDeep(f"nests more than {DEEPEST_TREE} levels of syntax")
        if current.id in left_out or current.type == "comment":
            continue
        children = current.children
        if not children:
            digest.update((current.text or b"") + b"\0")
        read.append((current, local))
        local = local or current.type in LOCAL_TYPES
        stack += [(child, depth + 1, local) for child in reversed(children)]
    for current, local in read:
        facts.update(_facts(current, local))
    return Unit(name, node.start_point[0] + 1, digest.hexdigest(), facts)


def _facts(node: Node, local: bool) -> Iterator[Fact]:
    """Yield the facts that this one node states, its children apart. local: whether it is in a function
    or a class."""
    kind = node.type
    if kind in NAME_TYPES:
        yield Fact("name", _text(node), "")
    elif kind == "qualified_identifier":
        yield Fact("name", _flat(node), "")
    elif kind == "call_expression":
        yield _call(node)
    elif kind == "preproc_include":
        path = node.child_by_field_name("path")
        yield Fact("include", _text(path) if path else _flat(node), "")
    elif kind in ("preproc_def", "preproc_function_def"):
        yield from _macro_facts(node)
    elif kind in ("string_literal", "raw_string_literal"):
        yield Fact("string", _text(node)[:LONGEST_TEXT], "")
    elif kind == "declaration":
        yield from _declaration_facts(node, local)
    elif kind == "new_expression" and (made := node.child_by_field_name("type")):
        yield Fact("object", _flat(made), _flat(node))
    elif kind in ("initializer_list", "argument_list"):
        numbers = sum(
            child.type in ("number_literal", "unary_expression", "char_literal")
            for child in node.named_children
        )
        if numbers > LONGEST_PLAIN_ARRAY:
            yield Fact("number-array", str(numbers), _flat(node))
    elif kind == "binary_expression":
        yield from _comparison_facts(node)
    elif kind == "abstract_function_declarator" and _is_cast(node):
        yield Fact("function-cast", "cast", _flat(node.parent) if node.parent else "")
    elif kind == "gnu_asm_expression":
        yield Fact("assembler", "asm", _flat(node))
    elif kind == "return_statement":
        yield Fact("return", _flat(node)[len("return") :].rstrip("; ").strip(), "")
    elif kind == "preproc_call":
        yield Fact("pragma", _flat(node), "")
    elif kind == "ERROR" and not node.children:
        yield from (Fact("name", word, "") for word in _IDENTIFIER.findall(_text(node)))


def _call(node: Node) -> Fact:
    callee = node.child_by_field_name("function")
    while (
        callee is not None
        and callee.type in ("parenthesized_expression", "template_function")
        and callee.named_children
    ):
        callee = callee.named_children[0]
    if callee is None:
        return Fact("call", "", _flat(node))
    if callee.type == "field_expression":
        field = callee.child_by_field_name("field")
        return Fact("member-call", _flat(field) if field else _flat(callee), _flat(node))
    return Fact("call", _flat(callee).removeprefix("::").removeprefix("std::"), _flat(node))


def _macro_facts(node: Node) -> Iterator[Fact]:
    """Yield what the body of a macro says, read as a statement; `##` makes names that cannot be read."""
    value = node.child_by_field_name("value")
    if value is None:
        return
    body = _text(value)
    if "##" in body:
        yield Fact("macro-paste", _text(node.child_by_field_name("name")), _cut(body))
    from tree_sitter import Parser

    yield from (Fact("option", name, default.strip()) for name, default in _TABLED_OPTION.findall(body))
    tree = Parser(_language()).parse(b"void macro() {" + body.replace("\\\n", "\n").encode() + b";}")
    stack = [tree.root_node]
    while stack:
        current = stack.pop()
        if current.type not in ("preproc_def", "preproc_function_def", "comment"):
            yield from (fact for fact in _facts(current, True) if fact.name not in ("macro", ""))
            stack += current.children


def _declaration_facts(node: Node, local: bool) -> Iterator[Fact]:
    """Yield declared options, objects of class types, and state that outlives a call: static, or at file
    scope, and not constant."""
    words = [
        _text(child) for child in node.children if child.type in ("storage_class_specifier", "type_qualifier")
    ]
    type_node = node.child_by_field_name("type")
    type_name = _flat(type_node) if type_node else ""
    for declarator in node.children_by_field_name("declarator"):
        if "function_declarator" in _declarator_types(declarator) and not _is_option(type_name):
            continue
        if _is_option(type_name):
            yield from _option_fact(node)
            continue
        if type_node is not None and type_node.type in (
            "type_identifier",
            "qualified_identifier",
            "template_type",
        ):
            yield Fact("object", type_name, _flat(node))
        outlives = "static" in words or "thread_local" in words or ("extern" not in words and not local)
        if outlives and not set(words) & set(MUTABLE_EXEMPT):
            yield Fact("static", _flat(declarator).split("=")[0][:LONGEST_TEXT], _flat(node))


def _is_option(type_name: str) -> bool:
    return type_name.endswith("Option")


def _option_fact(node: Node) -> Iterator[Fact]:
    """Yield a declared option and its default."""
    if named := _DECLARED_OPTION.search(_SPACE.sub(" ", _text(node)[:LONGEST_OPTION])):
        yield Fact("option", named[1], named[2].strip())


def _declarator_types(node: Node) -> set[str]:
    result: set[str] = set()
    current: Node | None = node
    while current is not None:
        result.add(current.type)
        current = current.child_by_field_name("declarator")
    return result


def _comparison_facts(node: Node) -> Iterator[Fact]:
    """Equality of something with a whole number: `nVars() == 250`."""
    operator = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator is None or left is None or right is None or _text(operator) not in SIZE_COMPARISONS:
        return
    for number, other in ((left, right), (right, left)):
        if number.type == "number_literal":
            yield Fact("equals", _text(number), _flat(other))


def _is_cast(declarator: Node) -> bool:
    """Return whether the type of a function is in a cast: `(void (*)()) data`, `reinterpret_cast<void
    (*)()>(data)`."""
    node: Node | None = declarator
    for _ in range(6):
        node = node.parent if node is not None else None
        if node is None or node.type in ("cast_expression", "compound_literal_expression"):
            return node is not None
        if node.type == "template_argument_list":
            return node.parent is not None and _text(node.parent)[:30].partition("<")[0].strip().endswith(
                "_cast"
            )
    return False


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _flat(node: Node) -> str:
    return _cut(_text(node))


def _cut(text: str) -> str:
    flat = _SPACE.sub(" ", text).strip()
    return flat if len(flat) <= LONGEST_TEXT else flat[: LONGEST_TEXT - 3] + "..."
