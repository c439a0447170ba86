"""The seconds that cars wait at five crossings of a street, with cars both ways and across."""

import importlib.util
import math

WAYS = [23, 31, 17, 38]
ACROSS = [0.16, 0.24, 0.10, 0.30, 0.19]
SECONDS = 600


def evaluate(program_path):
    """Return the mean wait of a car; 1000 for a plan that is none."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    cycle, greens, begins = program.plan()
    numbers = [cycle, *greens, *begins]
    if len(greens) != 5 or len(begins) != 5 or not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
        return {"wait": 1000.0}
    cycle = min(max(cycle, 20.0), 200.0)
    queues, waited, cars = [[0.0] * 5 for _ in range(3)], 0.0, 0.0
    coming = [[[0.0] * (SECONDS + 40) for _ in range(5)] for _ in range(2)]
    for second in range(SECONDS):
        for place in range(5):
            phase = (second - begins[place]) % cycle
            street = greens[place] * cycle
            # Nobody drives in the first three seconds of a phase.
            open_now = (3 <= phase < street, 3 <= phase < street, street + 3 <= phase)
            new = (0.34 if place == 0 else coming[0][place][second], 0.22 if place == 4 else coming[1][place][second], ACROSS[place])
            for way in range(3):
                queue = queues[way][place] + new[way]
                driven = min(queue, 1.0) if open_now[way] else 0.0
                queues[way][place] = queue - driven
                waited += queue - driven
                cars += new[way] if way == 2 or place == 4 * way else 0.0
                ahead = place + 1 - 2 * way
                if way < 2 and 0 <= ahead < 5:
                    coming[way][ahead][second + WAYS[min(place, ahead)]] += driven
    return {"wait": min(waited / cars, 1000.0)}
