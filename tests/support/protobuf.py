"""protobuf.py - reads protocol buffers, of which it knows numbers and bytes only."""


def fields(data):
    """Yield each field of a message as its number and its value, a whole number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, key
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
