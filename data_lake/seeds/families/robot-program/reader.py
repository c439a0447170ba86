import re


def read(text):
    program = re.findall(r"- turn (left|right), then go (\d+) steps?", text)
    times = re.search(r"program is run (\d+) times", text).group(1)
    return {"program": [[side, int(steps)] for side, steps in program], "times": int(times)}
