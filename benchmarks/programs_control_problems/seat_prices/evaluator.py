"""The income of two flights: random customers come over 60 days, and the late ones pay more."""

import importlib.util
import math
import random


def evaluate(program_path):
    """Return the mean income of a flight in thousands; a price that is no number sells nothing."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    income = 0.0
    for _ in range(2):
        seats, demand = 60, random.uniform(0.75, 1.25)
        for days in range(59, -1, -1):
            price = program.price(days, seats)
            if not isinstance(price, (int, float)) or not math.isfinite(price):
                continue
            business = 1 / (1 + math.exp((days - 12) / 4))
            for _ in range(6):
                if random.random() < demand * (0.25 + 0.15 * business):
                    most = random.gauss(310, 60) if random.random() < business else random.gauss(115, 35)
                    if seats and max(price, 0.0) <= most:
                        seats, income = seats - 1, income + max(price, 0.0)
    return {"income": income / 2000}
