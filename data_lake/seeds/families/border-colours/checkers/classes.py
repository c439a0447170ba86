"""Puts the regions of one colour together, and looks for a border inside."""

from collections import defaultdict


def check(inputs, answer):
    if type_of(answer) != "list":
        return False
    painted = defaultdict(set)
    for region, colour in enumerate(answer, start=1):
        if type_of(colour) != "whole":
            return False
        painted[colour].add(region)
    if set().union(*painted.values()) != set(range(1, inputs["regions"] + 1)):
        return False
    if min(painted) < 1 or max(painted) > inputs["colours"]:
        return False
    for regions in painted.values():
        for border in inputs["borders"]:
            if len(regions.intersection(border)) == 2:
                return False
    return True


def type_of(value):
    if isinstance(value, list):
        return "list"
    return "whole" if isinstance(value, int) and value is not True and value is not False else "other"
