"""The cost of a controller that holds the level of a tank with delay, disturbance and a noisy gauge."""

import importlib.util
import math

WORST = 1000.0


def evaluate(program_path):
    """Return the mean squared error of the level and a share of what the valve moves."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    level, flow, cost, before = 0.0, 0.0, 0.0, 0.0
    state = program.begin()
    for step in range(240):
        goal = 1.0 if step < 120 else 0.4
        gauge = level + 0.05 * math.sin(37.0 * step) + 0.03 * math.sin(91.7 * step)
        valve, state = program.control(goal, gauge, state)
        if not isinstance(valve, (int, float)) or not math.isfinite(valve):
            return {"cost": WORST}
        valve = min(max(valve, -1.0), 2.0)
        flow += 0.2 * (valve - flow)
        level += 0.1 * (flow - 0.5 * level - (0.2 if 60 <= step < 90 else 0.0))
        cost += (level - goal) ** 2 + 0.02 * (valve - before) ** 2
        before = valve
    return {"cost": min(100 * cost / 240, WORST)}
