"""The generator of cards."""

NEAR = COUNT = ""
__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def allowed(picks):
    alone = [here for here, before, after in zip(picks, [0, *picks], [*picks[1:], 0]) if here and not before and not after]
    near = {"apart": len(alone) == sum(picks), "linked": not alone, "ends": picks[0] != picks[-1]}[NEAR]
    return near and {"even": sum(picks) % 2 == 0, "odd": sum(picks) % 2 == 1, "few": sum(picks) <= 5}[COUNT]


def input(difficulty):
    size = 11 + difficulty // 2
    while True:
        row, sums = random.sample(range(2, 2 * size), size), {}
        for _ in range(150 + 20 * difficulty):
            picks = [random.randint(0, 1) for _ in row]
            if NEAR == "apart":
                picks = [here if not before else 0 for here, before in zip(picks, [0, *picks])]
            if NEAR == "linked":
                picks = [max(here, other) if place % 2 == 0 else here for place, (here, other) in enumerate(zip(picks, [*picks[1:], 0]))]
            if sum(picks) > 1 and allowed(picks):
                sums.setdefault(sum(amount for amount, here in zip(row, picks) if here), set()).add(tuple(picks))
        totals = sorted(total for total, found in sums.items() if len(found) > 1)
        if totals:
            total = random.choice(totals)
            return {"row": row, "total": total}, [", ".join(map(str, row)), str(total)]
