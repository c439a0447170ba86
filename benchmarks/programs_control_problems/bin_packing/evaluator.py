"""How much room bins waste if items, that come one after another, go to the bin that a formula ranks highest."""

import importlib.util
import math

ITEMS = [[20 + (k * step + k * k * 7) % 61 for k in range(90)] for step in (13, 29, 31)]
ROOM = 150


def evaluate(program_path):
    """Return the share of wasted room in percent, over three lists of items."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    used = needed = 0
    for items in ITEMS:
        bins = []
        for item in items:
            open_bins = [k for k, left in enumerate(bins) if left >= item]
            ranks = [program.rank(item, bins[k], ROOM) for k in open_bins]
            if not all(isinstance(rank, (int, float)) and math.isfinite(rank) for rank in ranks):
                return {"waste": 100.0}
            best = max(range(len(ranks)), key=ranks.__getitem__, default=None)
            if best is None or ranks[best] < 0:
                bins.append(ROOM)
                chosen = len(bins) - 1
            else:
                chosen = open_bins[best]
            bins[chosen] -= item
        used, needed = used + ROOM * len(bins), needed + sum(items)
    return {"waste": 100 * (used - needed) / used}
