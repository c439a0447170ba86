import random

AIM = "off"


def input(difficulty):
    buttons = 4 + 4 * difficulty // 5
    lamps = buttons - 1 - difficulty // 4
    switched = [sorted(random.sample(range(1, lamps + 1), random.randint(1, min(lamps, 4)))) for _ in range(buttons)]
    on = set() if AIM == "off" else random.choice([set(), set(range(1, lamps + 1))])
    for button in random.sample(range(buttons), random.randint(buttons // 2, buttons)):
        on ^= set(switched[button])
    hidden = random.randint(1, lamps)
    lines = [f"- button {number}: {row}" for number, row in enumerate(switched, start=1)]
    inputs = {"lamps": lamps, "buttons": switched, "on": sorted(on), "hidden": hidden}
    return inputs, [str(lamps), "\n".join(lines), str(sorted(on)), str(hidden)]
