"""How alike two families are: in code, by the syntax tree with names taken away, and in answers, on seeds
that all families share.

Code: identifiers are numbered in order of appearance, docstrings and annotations dropped, constants kept (a
rule may be one constant); the tree's nodes in order make shingles, of which the smallest hashes are a sketch
(bottom-k, Broder 1997: the Jaccard index of two sets is the share of common hashes among the smallest of
their union). Answers: one key per instance of the shared sample.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evolake.answers.reading import number
from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.parsing import parse_python

SHINGLE = 6
SKETCH = 256
LARGEST_BITS = 14_000
"""Of an integer that is written in decimal: Python refuses more than 4,300 digits."""


@dataclass(frozen=True)
class Fingerprint:
    """What is kept of a family to recognise another like it. sketch: sorted 60-bit hashes; answers: one short
    key an instance of the sample."""

    family_id: str
    name: str
    code_sha: str
    template_sha: str
    sketch: tuple[int, ...]
    answers: tuple[str, ...]

    def to_json(self) -> str:
        """For a column of a table."""
        return json.dumps(
            [
                self.family_id,
                self.name,
                self.code_sha,
                self.template_sha,
                list(self.sketch),
                list(self.answers),
            ]
        )

    @classmethod
    def from_json(cls, text: str) -> Fingerprint:
        """Return the fingerprint that `to_json` wrote."""
        family_id, name, code_sha, template_sha, sketch, answers = json.loads(text)
        return cls(family_id, name, code_sha, template_sha, tuple(sketch), tuple(answers))


@dataclass(frozen=True)
class Similarity:
    """Of one family to another: code and answers from 0 to 1."""

    family_id: str
    name: str
    code: float
    answers: float
    same_code: bool
    same_text: bool


def fingerprint(family: Family, answers: Sequence[Any]) -> Fingerprint:
    """Return the fingerprint; `answers` are the primary's on the shared sample, None where it gave none."""
    tokens = normalised(family.generator) + normalised(family.validator)
    text = " ".join(stated(family).split()).casefold()
    keys = tuple(_sha(answer_key(answer))[:12] for answer in answers)
    return Fingerprint(
        family.family_id, family.name, _sha(json.dumps(tokens)), _sha(text), sketch(tokens), keys
    )


def similarity(first: Fingerprint, other: Fingerprint) -> Similarity:
    """Return how `other` resembles `first`."""
    pairs = list(zip(first.answers, other.answers, strict=False))
    agreement = sum(left == right for left, right in pairs) / len(pairs) if pairs else 0.0
    same = first.code_sha == other.code_sha
    return Similarity(
        other.family_id,
        other.name,
        jaccard(first.sketch, other.sketch),
        agreement,
        same,
        first.template_sha == other.template_sha,
    )


def normalised(source: str) -> list[str]:
    """Return the syntax tree as a list of words without names; the words of the text where it cannot be
    parsed."""
    try:
        # walked by a stack of its own: `source_code.parse` would refuse what is only deep
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source.split()
    names: dict[str, str] = {}
    return [word for node in _nodes(tree) for word in _words(node, names)]


def sketch(tokens: Sequence[str]) -> tuple[int, ...]:
    """Return the smallest hashes of the shingles."""
    shingles = {
        "\x1f".join(tokens[start : start + SHINGLE]) for start in range(max(1, len(tokens) - SHINGLE + 1))
    }
    return tuple(
        sorted(
            int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 4
            for text in shingles
        )[:SKETCH]
    )


def jaccard(first: Sequence[int], other: Sequence[int]) -> float:
    """Estimated from two sketches; exact where both sets fit into one."""
    left, right = set(first), set(other)
    union = sorted(left | right)[:SKETCH]
    return sum(item in left and item in right for item in union) / len(union) if union else 1.0


def answer_key(answer: Any) -> str:
    """Return one text for answers that are written differently: numbers as fractions, mappings sorted."""
    if isinstance(answer, bool) or answer is None:
        return repr(answer)
    if isinstance(answer, int):
        return f"n{answer}" if answer.bit_length() <= LARGEST_BITS else f"n{answer:#x}"
    if isinstance(answer, float):
        return f"n{answer:.9g}" if not answer.is_integer() else f"n{int(answer)}"
    if isinstance(answer, str):
        result = number(answer.strip())
        return _number_key(result[0]) if result else f"s{answer.strip()}"
    if isinstance(answer, list):
        return "[" + ",".join(map(answer_key, answer)) + "]"
    return (
        "{"
        + ",".join(f"{answer_key(key)}:{answer_key(value)}" for key, value in sorted(answer.items()))
        + "}"
    )


def _number_key(value: Fraction) -> str:
    """As the key of the same number as a value; in hex where it is past a float's range, or longer than
    Python writes out in decimal."""
    if value.denominator == 1:
        return answer_key(int(value)) if int(value).bit_length() <= LARGEST_BITS else f"n{int(value):#x}"
    try:
        return answer_key(float(value))
    except OverflowError:
        return f"n{value.numerator:#x}/{value.denominator:#x}"


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Depth first, without docstrings and annotations; a stack instead of recursion."""
    result, stack = [], [tree]
    while stack:
        node = stack.pop()
        result.append(node)
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                children.remove(first)
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        stack.extend(child for child in reversed(children) if child not in annotations)
    return result


def _words(node: ast.AST, names: dict[str, str]) -> list[str]:
    words = [type(node).__name__]
    for field in ("id", "arg", "name", "asname"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            words.append(names.setdefault(value, f"v{len(names)}"))
    if isinstance(node, ast.Attribute):
        words.append(node.attr)
    if isinstance(node, ast.Constant):
        words.append(_literal(node.value))
    return words


def _literal(value: Any) -> str:
    return f"{value:#x}" if isinstance(value, int) and value.bit_length() > LARGEST_BITS else repr(value)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
