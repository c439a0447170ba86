"""A program with a part of another: a function of the same name, or a whole block."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from evolake.programs.model.blocks import Blocks, cut
from evolake.programs.model.source import Places, parse
from evolake.programs.search.numbers import inside


def crossed(
    texts: Mapping[str, str], other: Mapping[str, str], random: np.random.Generator
) -> dict[str, str] | None:
    """Return the texts with one function or one block of `other`; None where both are alike in all of
    them."""
    ways = [
        (name, place)
        for name in texts
        if name in other
        for place in differing(name, texts[name], other[name])
    ]
    if not ways:
        return None
    name, (span, written) = ways[int(random.integers(len(ways)))]
    text = texts[name]
    return {**texts, name: text[: span[0]] + written + text[span[1] :]}


def differing(name: str, text: str, other: str) -> list[tuple[tuple[int, int], str]]:
    """Return (where, what is there in the other) of each function of one name that is another there; of
    blocks, if there are several."""
    own, theirs = cut(text, name), cut(other, name)
    outcome = []
    if name.endswith(".py"):
        mine, yours = functions(text, own), functions(other, theirs)
        both = [
            (span, other[slice(*yours[function])]) for function, span in mine.items() if function in yours
        ]
        outcome = [(span, written) for span, written in both if text[slice(*span)] != written]
    if len(own.blocks) > 1 and len(own.blocks) == len(theirs.blocks):
        pairs = zip(own.spans(), own.blocks, theirs.blocks, strict=True)
        outcome += [(span, block) for span, before, block in pairs if before != block]
    return outcome


def functions(text: str, blocks: Blocks) -> dict[str, tuple[int, int]]:
    """Return name -> place of the functions at the top of a text that are in its blocks. Those with
    decorators are left out."""
    places, spans = Places(text), blocks.spans()
    return {
        node.name: places.span(node)
        for node in parse(text).body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and inside(*places.span(node), spans)
    }
