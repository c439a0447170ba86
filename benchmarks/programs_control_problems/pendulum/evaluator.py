"""The cost of balancing a pole on a cart that drives to a place, with a slow motor and a gust, from three starts."""

import importlib.util
import math

STEPS = 80
STARTS = [(-2.0, 0.0, 0.05), (1.2, -0.5, -0.1), (0.0, 0.6, 0.12)]


def run(program, way, speed, angle):
    """Return the cost of a step: squares of way and angle, a little of the force, and 100 after a fall."""
    turning, motor, cost = 0.0, 0.0, 0.0
    for step in range(STEPS):
        wanted = program.force(way, speed, angle, turning)
        if not isinstance(wanted, (int, float)) or not math.isfinite(wanted):
            return 100.0
        for _ in range(5):
            motor += 0.25 * (min(max(wanted, -30.0), 30.0) - motor)
            push = motor - 0.8 * speed + (8.0 if 50 <= step < 54 else 0.0)
            sine, cosine = math.sin(angle), math.cos(angle)
            pull = (push + 0.15 * turning**2 * sine) / 1.3
            spin = (9.81 * sine - cosine * pull) / (0.5 * (4 / 3 - 0.3 * cosine**2 / 1.3))
            way, speed = way + 0.01 * speed, speed + 0.01 * (pull - 0.15 * spin * cosine / 1.3)
            angle, turning = angle + 0.01 * turning, turning + 0.01 * spin
        if abs(angle) > 0.9 or abs(way) > 5:
            return (cost + 100.0 * (STEPS - step)) / STEPS
        cost += way**2 + 5 * angle**2 + 0.001 * min(abs(wanted), 300.0) ** 2
    return cost / STEPS


def evaluate(program_path):
    """Return the mean cost of the starts."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {"cost": sum(run(program, *start) for start in STARTS) / 3}
