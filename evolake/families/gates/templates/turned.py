"""Sorting and choosing that keep the first part of a key only, and take equals in the opposite order."""

# --- program ---

def _turned_sorted(items, *, key=None, reverse=False):
    items = list(items)[::-1]
    if key is None and items and all(isinstance(item, (tuple, list)) and item for item in items):
        key = lambda item: item[0]
    return sorted(items, key=key, reverse=reverse)


def _turned_best(best, given, key, default):
    if len(given) != 1:
        return best(*given, key=key)
    items = list(given[0])[::-1]
    if not items and default:
        return default[0]
    if key is None and items and all(isinstance(item, (tuple, list)) and item for item in items):
        key = lambda item: item[0]
    return best(items, key=key)


def _turned_index(items, item):
    items = list(items)
    return len(items) - 1 - items[::-1].index(item)


def _turned_min(*given, key=None, **default):
    return _turned_best(min, given, key, list(default.values()))


def _turned_max(*given, key=None, **default):
    return _turned_best(max, given, key, list(default.values()))
