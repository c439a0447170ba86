import random


def input(difficulty):
    count = 2 + difficulty
    last = 10 + 6 * difficulty
    leak = random.randint(2, 5)
    capacity = random.randint(20, 40 + 2 * difficulty)
    pours = [[minute, random.randint(5, 30)] for minute in sorted(random.sample(range(1, last + 1), count))]
    asked = min(last, random.choice(pours[count // 2 :])[0] + random.randint(0, 3))
    lines = [f"- in minute {minute}: {litres} litres" for minute, litres in pours]
    inputs = {"capacity": capacity, "leak": leak, "pours": pours, "asked": asked, "last": last}
    return inputs, [str(capacity), "\n".join(lines), str(leak), str(asked), str(last)]
