import re


def read(text):
    width, height = re.search(r"is (\d+) cm wide .* and (\d+) cm high", text).groups()
    x, y = re.search(r"starts at \[(\d+), (\d+)\]", text).groups()
    right, to_right, up, upwards = re.search(r"moves (\d+) cm (right|left) and at the same time (\d+) cm (up|down)", text).groups()
    seconds = re.search(r"after exactly (\d+) seconds", text).group(1)
    return {
        "size": [int(width), int(height)], "start": [int(x), int(y)],
        "speed": [int(right) * (1 if to_right == "right" else -1), int(up) * (1 if upwards == "up" else -1)], "seconds": int(seconds),
    }
