import random


def input(difficulty):
    width, height = random.randint(5, 8 + 4 * difficulty), random.randint(5, 8 + 4 * difficulty)
    start = [random.randint(1, width - 1), random.randint(1, height - 1)]
    speed = [random.choice((-1, 1)) * random.randint(1, 1 + difficulty), random.choice((-1, 1)) * random.randint(1, 2 + difficulty)]
    seconds = random.randint(5 * difficulty, 25 * difficulty)
    inputs = {"size": [width, height], "start": start, "speed": speed, "seconds": seconds}
    return inputs, [str(width), str(height), str(start), way(speed[0], "right", "left"), way(speed[1], "up", "down"), str(seconds)]


def way(speed, plus, minus):
    return f"{abs(speed)} cm {plus if speed > 0 else minus}"
