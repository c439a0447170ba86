import re


def read(text):
    boxes = re.findall(r"(\d+) cm long, (\d+) cm wide, (\d+) cm high", text)
    chain = re.search(r"nests of exactly (\d+) boxes", text).group(1)
    return {"boxes": [[int(length) for length in box] for box in boxes], "chain": int(chain)}
