import random


def input(difficulty):
    count = 4 + difficulty
    largest = 8 + difficulty
    boxes = []
    for number in range(count):
        base = 1 + (largest - 4) * number // count
        boxes.append([random.randint(base, base + 4 + difficulty // 3) for _ in range(3)])
    random.shuffle(boxes)
    chain = random.randint(2, 2 + (difficulty + 1) // 4)
    lines = [f"- {long} cm long, {wide} cm wide, {high} cm high" for long, wide, high in boxes]
    return {"boxes": boxes, "chain": chain}, ["\n".join(lines), str(chain)]
