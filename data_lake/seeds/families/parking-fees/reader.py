import re


def read(text):
    return {
        "stays": [int(stay) for stay in re.findall(r"(\d+)分钟", re.search(r"时间依次为：(.*?)。", text).group(1))],
        "free": int(re.search(r"免费停放 (\d+) 分钟", text).group(1)), "unit": int(re.search(r"每 (\d+) 分钟为一个计费单位", text).group(1)),
        "price": int(re.search(r"每个单位收费 (\d+) 元", text).group(1)), "cap": int(re.search(r"该段只收 (\d+) 元", text).group(1)),
    }
