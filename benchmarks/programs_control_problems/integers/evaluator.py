"""The profit of twelve batch sizes that share three machines; a batch that fills no pallet wastes one."""

import importlib.util

HOURS = [[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], [9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4], [3, 3, 8, 3, 2, 7, 9, 5, 0, 2, 8, 8]]
LIMITS = [600, 700, 560]
PRICES = [31, 22, 44, 17, 21, 47, 41, 35, 29, 18, 43, 49]
PALLETS = [7, 5, 11, 4, 6, 9, 8, 7, 5, 10, 12, 6]


def evaluate(program_path):
    """Return the profit: 0 and less for sizes that are no whole numbers from 0 to 1000, or too many hours."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    sizes = program.sizes()
    if not isinstance(sizes, (list, tuple)) or len(sizes) != len(PRICES) or not all(type(size) is int and 0 <= size <= 1000 for size in sizes):
        return {"profit": -10000.0}
    over = sum(max(0, sum(h * size for h, size in zip(row, sizes, strict=True)) - limit) for row, limit in zip(HOURS, LIMITS, strict=True))
    waste = sum(-size % pallet for size, pallet in zip(sizes, PALLETS, strict=True))
    return {"profit": float(sum(p * size for p, size in zip(PRICES, sizes, strict=True)) - 12 * waste - 40 * over)}
