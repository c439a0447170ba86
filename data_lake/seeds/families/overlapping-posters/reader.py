import re


def read(text):
    posters = re.findall(r"corner at \((\d+), (\d+)\), (\d+) wide and (\d+) high", text)
    layers = re.search(r"Let L be (\d+)\.", text).group(1)
    return {"posters": [[int(number) for number in poster] for poster in posters], "layers": int(layers)}
