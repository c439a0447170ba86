import re


def read(text):
    tape = re.search(r"The tape: ([-+*@#x\d ]+)", text).group(1).split()
    x = int(re.search(r"x stands for the number (\d+)", text).group(1))
    return {"tokens": [int(token) if token.isdigit() else token for token in tape], "x": x}
