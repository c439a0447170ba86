import random


def input(difficulty):
    buttons = 3 + difficulty // 2
    gates = []
    for number in range(3 + 2 * difficulty):
        kind = random.choice(["AND", "OR", "XOR", "MIX", "MIX"])
        recent = max(1, buttons + number - 4)
        first = random.randint(recent, buttons + number)
        second = random.choice([wire for wire in range(1, buttons + number + 1) if wire != first])
        gates.append([kind, first, second])
    wires = buttons + len(gates)
    asked = random.randint(wires - len(gates) // 2, wires)
    lines = [f"- wire {buttons + number}: {kind} of wire {one} and wire {two}" for number, (kind, one, two) in enumerate(gates, start=1)]
    inputs = {"buttons": buttons, "gates": gates, "asked": asked, "wires": wires}
    return inputs, [str(buttons), "\n".join(lines), str(asked)]
