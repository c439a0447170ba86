import re


def read(text):
    dominoes = re.findall(r"- domino \d+: position (\d+), height (\d+)", text)
    pushed = int(re.search(r"pushes domino number (\d+) so", text).group(1))
    return {"dominoes": [[int(place), int(height)] for place, height in dominoes], "pushed": pushed}
