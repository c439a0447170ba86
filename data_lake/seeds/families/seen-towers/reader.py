import re


def read(text):
    heights = re.search(r"heights in metres are: ([\d, ]+)\.", text).group(1)
    apart = re.search(r"are at least (\d+) places apart", text).group(1)
    return {"heights": [int(height) for height in heights.split(",")], "apart": int(apart)}
