import re


def read(text):
    words = re.search(r"in this order: ([a-z, ]+)\.", text).group(1).split(", ")
    times = re.search(r"whole list (\d+) times", text).group(1)
    return {"moves": "".join({"north": "N", "east": "E", "south": "S", "west": "W"}[word] for word in words), "times": int(times)}
