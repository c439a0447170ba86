"""Themes of process worlds: two stores, a pointer on marks, a mode, and three signals, in the words of one
place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RunTheme:
    """opening: with slots 1 to 3, limit and starts. dial, mode: sentences with {size}, {start} for their
    slots. events: words of the list of signals; when: how each rule begins; close: how the rule that ends
    every turn begins. modes: words of the mode 0 and 1.
    """

    key: str
    title: str
    category: str
    opening: str
    dial: str
    mode: str
    modes: tuple[str, str]
    events: tuple[str, str, str]
    when: tuple[str, str, str]
    close: str
    listing: str
    words: Mapping[str, str]


RUN_THEMES = (
    RunTheme(
        "jars",
        "Beads in two jars",
        "temporal",
        "Beads are kept in a red jar and a blue jar. Each jar holds at most [Input Slot 1] beads. At the "
        "start, the number of beads is [Input Slot 2] in the red jar and [Input Slot 3] in the blue jar. "
        "There are always enough spare beads.",
        "A hand turns on a dial whose marks are numbered from 1 to {size}; forward from the last mark, it "
        "comes to mark 1 again. At the start it is at mark {start}.",
        "A lamp is either green or red. At the start it is {start}.",
        ("red", "green"),
        ("bell", "drum", "whistle"),
        ("When the bell rings", "When the drum sounds", "When the whistle blows"),
        "After that, to finish every turn",
        "The signals come in this order, each beginning a turn:",
        {
            "a": "the red jar",
            "b": "the blue jar",
            "units": "beads",
            "the_pointer": "the hand",
            "mark": "mark",
            "marks": "marks",
            "change": "let the lamp take the other colour",
            "mode_is_on": "the lamp is green",
            "mode_differs": "the colour of the lamp",
        },
    ),
    RunTheme(
        "harbour",
        "Crates in two halls",
        "spatial",
        "Crates stand in a north hall and a south hall. Each hall has room for at most [Input Slot 1] "
        "crates. At the start, the number of crates is [Input Slot 2] in the north hall and [Input Slot "
        "3] in the south hall. More crates can always be had from the ships.",
        "A crane runs on a circular track past berths that are numbered from 1 to {size}; forward from "
        "the last berth, it comes to berth 1 again. At the start it is at berth {start}.",
        "The gate of the harbour is either open or closed. At the start it is {start}.",
        ("closed", "open"),
        ("tug", "ferry", "barge"),
        ("When a tug arrives", "When a ferry arrives", "When a barge arrives"),
        "Then, before the next ship comes",
        "The ships arrive in this order, each beginning a turn:",
        {
            "a": "the north hall",
            "b": "the south hall",
            "units": "crates",
            "the_pointer": "the crane",
            "mark": "berth",
            "marks": "berths",
            "change": "move the gate into its other position",
            "mode_is_on": "the gate is open",
            "mode_differs": "the state of the gate",
        },
    ),
    RunTheme(
        "game",
        "Coins in a purse and a chest",
        "symbolic",
        "In a game, coins lie in a purse and a chest. Neither can hold more than [Input Slot 1] coins. At "
        "the start, the number of coins is [Input Slot 2] in the purse and [Input Slot 3] in the chest. "
        "The bank has always enough coins.",
        "A pawn walks in a circle over fields that are numbered from 1 to {size}; forward from the last "
        "field, it comes to field 1 again. At the start it is at field {start}.",
        "The weather card shows either sun or rain. At the start it shows {start}.",
        ("rain", "sun"),
        ("king", "queen", "knave"),
        ("When a king is drawn", "When a queen is drawn", "When a knave is drawn"),
        "As the last thing in every turn",
        "The cards are drawn in this order, one in each turn:",
        {
            "a": "the purse",
            "b": "the chest",
            "units": "coins",
            "the_pointer": "the pawn",
            "mark": "field",
            "marks": "fields",
            "change": "turn the weather card to its other side",
            "mode_is_on": "the weather card shows sun",
            "mode_differs": "the weather on the card",
        },
    ),
    RunTheme(
        "farm",
        "Bales in a barn and a shed",
        "commonsense",
        "Bales of hay are stored in a barn and a shed. Each of them has room for at most [Input Slot 1] "
        "bales. At the start, the number of bales is [Input Slot 2] in the barn and [Input Slot 3] in the "
        "shed. There is no lack of hay on the fields.",
        "A cart goes round a circular path past posts that are numbered from 1 to {size}; forward from "
        "the last post, it comes to post 1 again. At the start it is at post {start}.",
        "The dog is either awake or asleep. At the start it is {start}.",
        ("asleep", "awake"),
        ("sunny", "rainy", "windy"),
        ("On a sunny day", "On a rainy day", "On a windy day"),
        "In the evening of every day",
        "A turn is one day, and the days are as follows:",
        {
            "a": "the barn",
            "b": "the shed",
            "units": "bales",
            "the_pointer": "the cart",
            "mark": "post",
            "marks": "posts",
            "change": "let the dog change between sleep and waking",
            "mode_is_on": "the dog is awake",
            "mode_differs": "the state of the dog",
        },
    ),
    RunTheme(
        "lab",
        "Cells in two dishes",
        "causal",
        "In a laboratory, cells live in a left dish and a right dish. A dish can feed at most [Input Slot "
        "1] cells. At the start, the number of cells is [Input Slot 2] in the left dish and [Input Slot "
        "3] in the right dish. A store of further cells is at hand.",
        "A robot arm moves on a ring of stations that are numbered from 1 to {size}; forward from the "
        "last station, it comes to station 1 again. At the start it is at station {start}.",
        "The heating is either on or off. At the start it is {start}.",
        ("off", "on"),
        ("alpha", "beta", "gamma"),
        ("When signal alpha comes", "When signal beta comes", "When signal gamma comes"),
        "To finish each turn",
        "The signals come in this order, each beginning a turn:",
        {
            "a": "the left dish",
            "b": "the right dish",
            "units": "cells",
            "the_pointer": "the arm",
            "mark": "station",
            "marks": "stations",
            "change": "flip the switch of the heating",
            "mode_is_on": "the heating is on",
            "mode_differs": "the state of the heating",
        },
    ),
)
