import re


def read(text):
    return {
        "tiles": [[int(place), int(height)] for place, height in re.findall(r"- at (\d+) cm, (\d+) cm tall", text)],
        "pushed": int(re.search(r"pushes tile number (\d+) to the east", text).group(1)),
        "glued": int(re.search(r"Tile number (\d+) is glued", text).group(1)),
    }
