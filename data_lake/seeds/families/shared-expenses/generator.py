import random


def input(difficulty):
    count = 3 + (difficulty + 1) // 2
    expenses, lines = [], []
    for _ in range(3 + 2 * difficulty):
        sharers = sorted(random.sample(range(1, count + 1), random.randint(2, min(count, 5))))
        payer = random.choice(sharers)
        amount = len(sharers) * (len(sharers) - 1) * random.randint(1, 8 + 2 * difficulty)
        expenses.append([payer, amount, sharers])
        lines.append(f"- {payer}号付了{amount}元，参加者：{'、'.join(f'{sharer}号' for sharer in sharers)}")
    asked = random.randint(1, count)
    return {"count": count, "expenses": expenses, "asked": asked}, [str(count), "\n".join(lines), str(asked)]
