import re


def read(text):
    word = re.search(r"stands for each of them: ([abAB?]+)", text).group(1)
    return {"word": word, "depth": int(re.search(r"Let D be (\d+)", text).group(1)), "half": len(word) // 2}
