"""The cost of wrong alarms of a pump over 160 readings: an unseen failure costs more than a useless stop."""

import importlib.util

COSTS = [[0, 2, 6], [4, 0, 3], [25, 8, 0]]


def readings():
    """Return the readings and how bad each is: 0, 1 or 2."""
    rows = []
    for k in range(160):
        heat, shaking = 40 + k * 37 % 61, (k * 53 % 97) / 9
        pressure, current, age = 0.5 + (k * 29 % 89) / 8, 12 + k * 41 % 29, k * 17 % 11
        wear = max(0, heat - 62) / 14 + max(0, shaking - 3.1 - 0.15 * (10 - age)) / 2
        wear += max(0, 3.4 - pressure) + max(0, pressure - 9.2) + (1.2 if current > 27 and heat > 55 else 0)
        rows.append(((heat, shaking, pressure, current, age), (wear > 2.6) + (wear > 4.4)))
    return rows


def evaluate(program_path):
    """Return the mean cost of an alarm; 25 for one that is not 0, 1 or 2."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    costs = []
    for row, bad in readings():
        alarm = program.alarm(*row)
        costs.append(COSTS[bad][alarm] if type(alarm) is int and 0 <= alarm <= 2 else 25)
    return {"cost": sum(costs) / len(costs)}
