import re


def read(text):
    shifts = [[int(start), int(end)] for start, end in re.findall(r"- guard \d+: from minute (\d+) to minute (\d+)", text)]
    return {"shifts": shifts, "least": int(re.search(r"where K is (\d+)", text).group(1)), "guards": len(shifts)}
