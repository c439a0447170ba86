import re


def read(text):
    east, north = re.search(r"station at \((\d+), (\d+)\)", text).groups()
    listed = re.search(r"roadworks at the crossings ([^.]*)\.", text).group(1)
    allowed = re.search(r"Let W be (\d+)\.", text).group(1)
    closed = [[int(x), int(y)] for x, y in re.findall(r"\((\d+), (\d+)\)", listed)]
    return {"east": int(east), "north": int(north), "closed": closed, "allowed": int(allowed)}
