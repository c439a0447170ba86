"""A reduced ordered decision diagram of each wire (Bryant 1986), and a count of the paths that end in true."""

from functools import cache

MIX = "inhibit"
WANTED = True


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("gates"), list) or not isinstance(inputs.get("asked"), int):
        return {"status": "schema_error", "detail": "buttons, gates, asked"}
    buttons = inputs["buttons"]
    truth = {
        "AND": (False, False, False, True), "OR": (False, True, True, True), "XOR": (False, True, True, False),
        "MIX": {"inhibit": (False, False, True, False), "same": (True, False, False, True), "notboth": (True, True, True, False)}[MIX],
    }
    nodes, numbers = [], {}

    def node(level, low, high):
        if low == high:
            return low
        key = (level, low, high)
        if key not in numbers:
            numbers[key] = len(nodes) + 2
            nodes.append(key)
        return numbers[key]

    def parts(number, level):
        if number < 2 or nodes[number - 2][0] != level:
            return number, number
        return nodes[number - 2][1:]

    def depth(number):
        return buttons + 1 if number < 2 else nodes[number - 2][0]

    @cache
    def combined(kind, one, two):
        if one < 2 and two < 2:
            return int(truth[kind][2 * one + two])
        level = min(depth(one), depth(two))
        (low_one, high_one), (low_two, high_two) = parts(one, level), parts(two, level)
        return node(level, combined(kind, low_one, low_two), combined(kind, high_one, high_two))

    @cache
    def models(number):
        """Ways of pressing the buttons from the node's level on that lead to true."""
        if number < 2:
            return number
        level, low, high = nodes[number - 2]
        return sum(models(child) << (depth(child) - level - 1) for child in (low, high))

    wires = {button: node(button, 0, 1) for button in range(1, buttons + 1)}
    for wire, (kind, first, second) in enumerate(inputs["gates"], start=buttons + 1):
        wires[wire] = combined(kind, wires[first], wires[second])
    root = wires[inputs["asked"]]
    live = models(root) << (depth(root) - 1)
    return live if WANTED else 2**buttons - live
