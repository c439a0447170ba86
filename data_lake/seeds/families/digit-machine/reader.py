import re


def read(text):
    factor, added = re.search(r"multiplies this by (\d+) and adds (\d+)", text).groups()
    return {
        "start": int(re.search(r"at first (\d+)\.", text).group(1)), "factor": int(factor), "added": int(added),
        "modulus": int(re.search(r"Here M is (\d+)", text).group(1)), "steps": int(re.search(r"been pressed (\d+) times", text).group(1)),
    }
