"""How much of the cost of misses a cache of 60 units saves, over 450 requests with a few favourites and scans."""

import importlib.util

ROOM = 60


def requests():
    """Return the numbers of the requested objects."""
    state, numbers = 7, []
    for k in range(450):
        state = (1103515245 * state + 12345) % 2**31
        share = state / 2**31
        favourite = int(40 * share**3) + 10 * (k // 225)
        numbers.append(100 + k % 70 if k % 150 > 120 else favourite)
    return numbers


def evaluate(program_path):
    """Return the score in OpenEvolve's form."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    last, hits, saved, total, found = {}, {}, 0, 0, 0
    numbers = requests()
    size = {number: 2 + number * 7 % 11 for number in numbers}
    cost = {number: 1 + number * 13 % 9 for number in numbers}
    for now, number in enumerate(numbers):
        total += cost[number]
        if number in last:
            saved, found = saved + cost[number], found + 1
            hits[number] += 1
        else:
            while sum(size[key] for key in last) + size[number] > ROOM:
                keys = list(last)
                place = program.victim([(now - last[key], hits[key], size[key], cost[key]) for key in keys])
                if type(place) is not int or not 0 <= place < len(keys):
                    return {"combined_score": 0.0, "hit_rate": 0.0}
                del last[keys[place]]
            hits[number] = 0
        last[number] = now
    return {"combined_score": saved / total, "hit_rate": found / len(numbers)}
