"""A heap dump of a Java machine (hprof 1.0.2), read whole, and its dominators by the iterative method of Cooper, Harvey and Kennedy: a
reader that shares nothing with Mire's. The sums are those that docs/memory.md defines."""

import collections
import struct

WIDTHS = {2: None, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
NUMBERS = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
LETTERS = {"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short", "I": "int", "J": "long"}
ROOTS = {0xFF: ("unknown", 0), 0x01: ("jni", 8), 0x02: ("local", 8), 0x03: ("local", 8), 0x04: ("local", 4), 0x05: ("class", 0),
         0x06: ("local", 4), 0x07: ("monitor", 0), 0x08: ("thread", 8), 0x89: ("internal", 0)}
WEAK = {"java.lang.ref.WeakReference", "java.lang.ref.PhantomReference"}
DEEPEST = 60
Kind = collections.namedtuple("Kind", "above links fields static_bytes")


def readable(name):
    """[Ljava/lang/String; -> java.lang.String[]"""
    base = name.lstrip("[")
    depth = len(name) - len(base)
    base = LETTERS[base] if depth and base in LETTERS else base[1:-1] if depth else base
    return base.replace("/", ".") + "[]" * depth


class Dump:
    """Nodes are the ids of objects and classes; 0 is the root of all."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.strings, self.named, self.classes, self.objects = {}, {}, {}, {}
        self.roots, self.threads, self.locals = {}, {}, []
        at = self.data.index(b"\0") + 13
        assert self.data[:at].startswith(b"JAVA PROFILE 1.0.") and self.data[at - 9] == 8, "ids of 8 bytes"
        while at < len(self.data):
            tag, size = self.data[at], struct.unpack_from(">I", self.data, at + 5)[0]
            at += 9
            if tag == 1:
                self.strings[self.id(at)] = self.data[at + 8:at + size].decode(errors="replace")
            elif tag == 2:
                self.named[self.id(at + 4)] = self.id(at + 16)
            elif tag in (0x0C, 0x1C):
                self.segment(at, at + size)
            at += size
        self.name = {at: readable(self.strings[self.named[at]]) for at in self.classes}
        self.meta = next(at for at, name in self.name.items() if name == "java.lang.Class")
        self.shape = {at: self.shape_of(at) for at in self.classes}
        self.number_class = {name: at for at, name in self.name.items() if name in {f"{n}[]" for n in NUMBERS.values()}}

    def id(self, at):
        """An id."""
        return struct.unpack_from(">Q", self.data, at)[0]

    def segment(self, at, end):
        """Records of objects and roots."""
        while at < end:
            tag = self.data[at]
            at += 1
            if tag in ROOTS:
                at = self.root(at, *ROOTS[tag])
            elif tag == 0x20:
                at = self.class_dump(at)
            elif tag == 0x21:
                size = struct.unpack_from(">I", self.data, at + 20)[0]
                self.objects[self.id(at)] = ("instance", self.id(at + 12), at + 24, size)
                at += 24 + size
            elif tag == 0x22:
                count = struct.unpack_from(">I", self.data, at + 12)[0]
                self.objects[self.id(at)] = ("array", self.id(at + 16), at + 24, count)
                at += 24 + 8 * count
            else:
                assert tag == 0x23, hex(tag)
                count, kind = struct.unpack_from(">IB", self.data, at + 12)
                self.objects[self.id(at)] = ("numbers", kind, at + 17, count)
                at += 17 + WIDTHS[kind] * count

    def root(self, at, kind, more):
        """A reason to live; a thread's own objects are kept until all threads are known."""
        to, serial = self.id(at), struct.unpack_from(">I", self.data, at + 8)[0] if more else 0
        if kind == "local":
            self.locals.append((serial, to))
        else:
            self.roots.setdefault(to, kind)
            if kind == "thread":
                self.threads[serial] = to
        return at + 8 + more

    def value(self, at):
        """Type, value and end of a static field."""
        kind = self.data[at]
        width = WIDTHS[kind] or 8
        return kind, int.from_bytes(self.data[at + 1:at + 1 + width], "big"), at + 1 + width

    def class_dump(self, at):
        """A class."""
        own, above = self.id(at), self.id(at + 12)
        links, static_bytes = [self.id(at + 12 + 8 * i) for i in range(4)], 0
        at += 8 + 4 + 6 * 8 + 4
        count = struct.unpack_from(">H", self.data, at)[0]
        at += 2
        for _ in range(count):
            at = self.value(at + 2)[2]
        count = struct.unpack_from(">H", self.data, at)[0]
        at += 2
        for _ in range(count):
            kind, value, at = self.value(at + 8)
            static_bytes += 4 if kind == 2 else WIDTHS[kind]
            links += [value] if kind == 2 else []
        count = struct.unpack_from(">H", self.data, at)[0]
        fields = [(self.id(at + 2 + 9 * i), self.data[at + 10 + 9 * i]) for i in range(count)]
        self.classes[own] = Kind(above, links, fields, static_bytes)
        return at + 2 + 9 * count

    def shape_of(self, at):
        """Places of references in an instance, and its size: header of 12 bytes, references of 4, all rounded up to 8."""
        line = []
        while at in self.classes:
            line.append(at)
            at = self.classes[at].above
        weak = any(self.name[one] in WEAK for one in line)
        places, place, size = [], 0, 12
        for one in line:
            for name, kind in self.classes[one].fields:
                if kind == 2 and not (weak and self.name[one] == "java.lang.ref.Reference" and self.strings[name] == "referent"):
                    places.append(place)
                place += WIDTHS[kind] or 8
                size += WIDTHS[kind] or 4
        return places, (size + 7) // 8 * 8

    def label(self, at):
        """What an object is called."""
        if at in self.classes:
            return self.name[at] + ".<static>"
        kind, of, _, _ = self.objects[at]
        return NUMBERS[of] + "[]" if kind == "numbers" else self.name[of]

    def bytes_of(self, at):
        """What it takes itself."""
        if at in self.classes:
            return self.shape[self.meta][1] + (self.classes[at].static_bytes + 7) // 8 * 8
        kind, of, _, count = self.objects[at]
        if kind == "instance":
            return self.shape[of][1]
        return (16 + count * (4 if kind == "array" else WIDTHS[of]) + 7) // 8 * 8

    def links(self):
        """Who refers to whom; 0 to the roots."""
        nodes = self.classes.keys() | self.objects.keys()
        links = {at: list(of.links) for at, of in self.classes.items()}
        for at, (kind, of, place, count) in self.objects.items():
            if at in links:
                continue
            if kind == "instance":
                links[at] = [of] + [self.id(place + one) for one in self.shape[of][0]]
            else:
                links[at] = [] if kind == "numbers" else [of, *struct.unpack_from(f">{count}Q", self.data, place)]
        roots = dict(self.roots)
        for serial, to in self.locals:
            if serial in self.threads:
                links[self.threads[serial]].append(to)
            else:
                roots.setdefault(to, "local")
        self.roots = {at: kind for at, kind in roots.items() if at in nodes}
        links[0] = list(self.roots)
        return {at: [to for to in of if to in nodes] for at, of in links.items()}


def dominators(links):
    """The order of a depth-first search backwards, and who dominates whom, by place in that order."""
    order, seen, todo = [], {0}, [(0, iter(links[0]))]
    while todo:
        at, rest = todo[-1]
        deeper = next((to for to in rest if to not in seen), None)
        if deeper is None:
            order.append(at)
            todo.pop()
        else:
            seen.add(deeper)
            todo.append((deeper, iter(links[deeper])))
    order.reverse()
    number = {at: i for i, at in enumerate(order)}
    before = [[] for _ in order]
    for i, at in enumerate(order):
        for to in links[at]:
            before[number[to]].append(i)
    above, changed = [0] + [-1] * (len(order) - 1), True
    while changed:
        changed = False
        for i in range(1, len(order)):
            new = -1
            for other in before[i]:
                if above[other] < 0:
                    continue
                a, b = other, new if new >= 0 else other
                while a != b:
                    while a > b:
                        a = above[a]
                    while b > a:
                        b = above[b]
                new = a
            changed |= above[i] != new
            above[i] = new
    return order, above


def ways(path):
    """Bytes by way in the tree of dominators, as docs/memory.md has it."""
    dump = Dump(path)
    links = dump.links()
    order, above = dominators(links)
    way, sums = {0: ()}, collections.Counter()
    for i, at in enumerate(order[1:], 1):
        up, label = way[above[i]], dump.label(at)
        if not above[i]:
            up = (f"jvm.root.{dump.roots.get(at, 'several')}",)
        if up[-1] != label or len(up) == 1:
            up = (*(up if len(up) < DEEPEST else ("jvm.root.several",)), label)
        way[i] = up
        sums[";".join(up)] += dump.bytes_of(at)
    for at in links.keys() - set(order):
        sums[f"jvm.root.garbage;{dump.label(at)}"] += dump.bytes_of(at)
    return sums
