import re


def read(text):
    expenses = []
    for payer, amount, sharers in re.findall(r"- (\d+)号付了(\d+)元，参加者：(.*)", text):
        expenses.append([int(payer), int(amount), [int(sharer) for sharer in re.findall(r"(\d+)号", sharers)]])
    return {
        "count": int(re.search(r"(\d+) 位朋友一起旅行", text).group(1)), "expenses": expenses,
        "asked": int(re.search(r"这位朋友是 (\d+) 号", text).group(1)),
    }
