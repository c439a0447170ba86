"""Themes of queues: who is in line, for what, and what gives some of them priority."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class QueueTheme:
    """opening: with slot 1 for the number of desks. words: a `member` and `folk`, a `desk` and `desks`, the
    `unit` of time and `units`, and the `card` that some have.
    """

    key: str
    title: str
    category: str
    opening: str
    words: Mapping[str, str]


def _theme(key: str, title: str, category: str, opening: str, **words: str) -> QueueTheme:
    return QueueTheme(
        key,
        title,
        category,
        opening,
        {"folk": f"{words['member']}s", "desks": f"{words['desk']}s", "units": f"{words['unit']}s", **words},
    )


QUEUE_THEMES = (
    _theme(
        "post",
        "Customers of a post office",
        "temporal",
        "In a post office, the number of open counters is [Input Slot 1].",
        member="customer",
        desk="counter",
        unit="minute",
        card="a priority ticket",
    ),
    _theme(
        "vet",
        "Dogs at an animal clinic",
        "temporal",
        "In an animal clinic, dogs are treated; the number of treatment rooms is [Input Slot 1].",
        member="dog",
        desk="room",
        unit="minute",
        card="a letter from another clinic",
    ),
    _theme(
        "port",
        "Ships before a port",
        "spatial",
        "Ships come to a port to be unloaded. The number of its cranes, of which each unloads one ship at "
        "a time, is [Input Slot 1].",
        member="ship",
        desk="crane",
        unit="hour",
        card="fruit on board",
    ),
    _theme(
        "garage",
        "Cars at a garage",
        "commonsense",
        "A garage repairs cars on lifts, one car on a lift. The number of lifts is [Input Slot 1].",
        member="car",
        desk="lift",
        unit="hour",
        card="a service contract",
    ),
    _theme(
        "computer",
        "Jobs on a computer",
        "symbolic",
        "A computer works on jobs. The number of its processors is [Input Slot 1], and each works on one "
        "job at a time.",
        member="job",
        desk="processor",
        unit="second",
        card="a red flag",
    ),
    _theme(
        "kitchen",
        "Requests in a kitchen",
        "causal",
        "In the kitchen of an inn, requests for meals come in. The number of cooks is [Input Slot 1], and "
        "a cook works on one request at a time.",
        member="request",
        desk="cook",
        unit="minute",
        card="a mark of the innkeeper",
    ),
)
