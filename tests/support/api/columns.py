"""The columns of a resolved-stack document, as server/src/document/columns.h has them; every function is a text."""

ROLES = ("unknown", "app", "system", "runtime", "allocator", "wait", "io", "lock", "dispatch", "thread")


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def fold(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def column(values):
    return number(len(values)) + b"".join(map(number, values))


def differences(values):
    return [fold(value - before) for value, before in zip(values, [0, *values])]


def same(value, rows):
    return column([value] if rows else [])


def columns(frames, nodes, samples, node_of):
    """frames: rows of the document's frames; nodes: (parent, location); node_of: the node of each sample."""
    texts = list(dict.fromkeys(x[k] for x in frames for k in ("function", "image", "file")))
    place = {text: i for i, text in enumerate(texts)}
    rows, taken = len(frames), len(samples)
    return b"".join([
        number(len(texts)), *(number(len(t.encode())) + t.encode() for t in texts),
        column([place[x["function"]] * 2 for x in frames]), column([place[x["image"]] for x in frames]),
        column([place[x["file"]] for x in frames]), column([x["line"] for x in frames]),
        column([fold(x["offset"]) for x in frames]), column([1 | int(x["inlined"]) << 1 for x in frames]),
        column([ROLES.index(x["role"]) for x in frames]), same(0, rows), same(0, rows),
        column([i - parent for i, (parent, _) in enumerate(nodes)]), column(differences([x for _, x in nodes])),
        column(differences([s["at_ms"] for s in samples])), column([s["weight_ms"] for s in samples]), column(node_of),
        same(ord("R"), taken), same(fold(-1), taken), same(ord("."), taken), same(0, taken), same(0, taken),
        column([s["thread"] for s in samples])])
