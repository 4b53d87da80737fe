#!/usr/bin/python3
"""tests/integration/hprof.py - heap dumps: classes, and who keeps their objects alive, held against a naive twin.

The twin takes the definition by its word: d keeps n alive alone if n cannot be reached without d. Random heaps of some
hundred objects are written in both forms, a Java machine's with ids of 8 bytes and Android's with 4. Where a Java machine
is installed, it dumps three programs as well: the classes' sums are compared with the machine's, and each way in the tree of
dominators with that of another reader (tests/support/heap_dump.py).

    hprof.py --big     also a dump of a gigabyte: the most memory that reading it takes is printed, and must be below 256 MiB
"""

import collections
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import heap_dump  # noqa: E402

BUILD = pathlib.Path(os.environ["MIRE_BINARY_DIR"])
MIRE = BUILD / "server/mire"
CLASSES = ["com.example.Cache", "com.example.Entry", "java.util.HashMap", "java.util.HashMap$Node", "com.example.Leaf"]
WEAK, REFERENCE, OBJECT, CLASS = "java.lang.ref.WeakReference", "java.lang.ref.Reference", "java.lang.Object", "java.lang.Class"


def mire(*args):
    done = subprocess.run([MIRE, "memory", *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


class Heap:
    """A random heap, and the dump of it."""

    def __init__(self, seed, wide):
        self.random = random.Random(seed)
        self.wide = wide
        self.id_len = 8 if wide else 4
        self.strings, self.out = {}, bytearray()
        names = [OBJECT, CLASS, REFERENCE, WEAK, *CLASSES]
        self.class_id = {name: 0x1000 + 16 * i for i, name in enumerate(names)}
        self.super = {name: OBJECT for name in names} | {OBJECT: None, WEAK: REFERENCE}
        self.fields = {name: 0 for name in names} | {REFERENCE: 1, **{name: self.random.randrange(1, 5) for name in CLASSES}}
        self.array_id = 0x2000
        self.objects, self.edges, self.roots, self.statics = {}, {}, {}, {}
        self.fill()

    def fill(self):
        """Objects, their references, class statics, roots."""
        ids = [0x10000 + 8 * n for n in range(self.random.randrange(20, 200))]
        for at in ids:
            kind = self.random.choice([*CLASSES, "Object[]", "byte[]", WEAK])
            refs = {"Object[]": self.random.randrange(6), "byte[]": 0, WEAK: 1}.get(kind, self.fields.get(kind))
            near = [at + 8 * self.random.randrange(-12, 13) for _ in range(refs)]
            self.objects[at] = kind
            self.edges[at] = [to if to in range(ids[0], ids[-1] + 8, 8) and self.random.random() < 0.7 else 0 for to in near]
        for name in CLASSES:
            self.statics[name] = [self.random.choice(ids) for _ in range(self.random.randrange(3))]
        for name in self.class_id:
            self.roots[self.class_id[name]] = "class"
        for at in self.random.sample(ids, 4):
            self.roots[at] = self.random.choice(["jni", "monitor", "unknown"])

    # ---- writing ----

    def id(self, value):
        """An object's id."""
        return struct.pack(">Q" if self.wide else ">I", value)

    def string(self, text):
        """The id of a text, which is written when it is first asked for."""
        if text not in self.strings:
            self.strings[text] = 0x900000 + len(self.strings)
            self.record(1, self.id(self.strings[text]) + text.encode())
        return self.id(self.strings[text])

    def record(self, tag, body):
        """A record."""
        self.out += struct.pack(">BII", tag, 0, len(body)) + body

    def class_dump(self, name):
        """A class with its static fields and the types of the others."""
        above = self.super.get(name)
        body = b"\x20" + self.id(self.class_id.get(name, self.array_id)) + bytes(4)
        body += self.id(self.class_id[above] if above else 0) + 5 * self.id(0)
        body += struct.pack(">IH", self.size(name), 0)
        statics = self.statics.get(name, [])
        body += struct.pack(">H", len(statics))
        for to in statics:
            body += self.string("field") + b"\x02" + self.id(to)
        fields = self.fields.get(name, 0)
        body += struct.pack(">H", fields)
        for _ in range(fields):
            body += self.string("referent" if name == REFERENCE else "field") + b"\x02"
        return body

    def write(self, path):
        """The dump, in segments, classes behind some of their objects."""
        self.out += (b"JAVA PROFILE 1.0.2\0" if self.wide else b"JAVA PROFILE 1.0.3\0") + struct.pack(">IQ", self.id_len, 1700000000123)
        for name, at in [*self.class_id.items(), ("[Ljava/lang/Object;", self.array_id)]:
            text = self.string(name.replace(".", "/"))
            self.record(2, struct.pack(">I", 1) + self.id(at) + bytes(4) + text)
        parts = []
        for at, kind in self.objects.items():
            refs = b"".join(map(self.id, self.edges[at]))
            if kind == "byte[]":
                parts.append(b"\x23" + self.id(at) + bytes(4) + struct.pack(">IB", 10, 8) + bytes(10))
            elif kind == "Object[]":
                parts.append(b"\x22" + self.id(at) + bytes(4) + struct.pack(">I", len(self.edges[at])) + self.id(self.array_id) + refs)
            else:
                parts.append(b"\x21" + self.id(at) + bytes(4) + self.id(self.class_id[kind]) + struct.pack(">I", len(refs)) + refs)
        parts += [self.class_dump(name) for name in self.class_id] + [self.class_dump("Object[]")]
        tags = {"class": 5, "monitor": 7, "unknown": 0xff, "jni": 1}
        parts += [bytes([tags[kind]]) + self.id(at) + (self.id(0) if kind == "jni" else b"") for at, kind in self.roots.items()]
        self.random.shuffle(parts)
        for i in range(0, len(parts), 40):
            self.record(0x1c, b"".join(parts[i : i + 40]))
        self.record(0x2c, b"")
        path.write_bytes(self.out)

    # ---- the twin ----

    def size(self, name):
        """Bytes of an object of a class."""
        fields = sum(self.fields.get(at, 0) for at in (name, self.super.get(name)) if at)
        return (12 + 4 * fields + 7) // 8 * 8 if self.wide else 16 + 8 * fields

    def bytes_of(self, at):
        """Bytes of a node, header and padding included."""
        kind = self.label(at)
        if kind.endswith(".<static>") or kind == "java.lang.Object[].<static>":
            name = kind[: -len(".<static>")]
            return self.size(CLASS) + (4 * len(self.statics.get(name, [])) + 7) // 8 * 8
        header = 16 if self.wide else 12
        if kind == "byte[]":
            return (header + 10 + 7) // 8 * 8
        if kind == "java.lang.Object[]":
            return (header + 4 * len(self.edges[at]) + 7) // 8 * 8
        return self.size(kind)

    def label(self, at):
        """What a frame of the node is called."""
        if at in self.objects:
            return {"Object[]": "java.lang.Object[]"}.get(self.objects[at], self.objects[at])
        if at == self.array_id:
            return "java.lang.Object[].<static>"
        return next(name for name, own in self.class_id.items() if own == at) + ".<static>"

    def links(self):
        """Who refers to whom; an object also to its class."""
        links = {}
        for at, kind in self.objects.items():
            of = {"Object[]": self.array_id, "byte[]": None}.get(kind, self.class_id.get(kind))
            links[at] = [to for to in (self.edges[at] if kind != WEAK else []) if to in self.objects] + ([of] if of else [])
        for name, at in self.class_id.items():
            above = self.super[name]
            links[at] = [*self.statics.get(name, []), *([self.class_id[above]] if above else [])]
        links[self.array_id] = []
        return links

    def expected(self):
        """Bytes by way."""
        links = self.links()

        def reach(without):
            seen, todo = set(), [at for at in self.roots if at != without]
            while todo:
                at = todo.pop()
                if at not in seen and at != without:
                    seen.add(at)
                    todo += links[at]
            return seen

        alive = reach(None)
        over = {at: set() for at in alive}
        for at in alive:
            for below in alive - reach(at) - {at}:
                over[below].add(at)
        ways = collections.Counter()
        for at in links:
            if at in alive:
                chain = sorted(over[at], key=lambda d: len(over[d])) + [at]
                first = f"jvm.root.{self.roots.get(chain[0], 'several')}"
            else:
                chain, first = [at], "jvm.root.garbage"
            labels = [first]
            for label in map(self.label, chain):
                if labels[-1] != label:
                    labels.append(label)
            ways[";".join(labels)] += self.bytes_of(at)
        return ways


def told(path):
    """Bytes by way, as mire tells them."""
    code, out, err = mire("--collapsed", "-", path)
    assert code == 0, err
    ways = collections.Counter()
    for line in out.splitlines():
        way, size = line.rsplit(" ", 1)
        ways[way] += int(size)
    return ways


def random_heaps(folder):
    """Each way with its bytes, of many heaps."""
    for seed in range(24):
        heap = Heap(seed, wide=seed % 2 == 0)
        path = folder / "random.hprof"
        heap.write(path)
        want, got = heap.expected(), told(path)
        assert want == got, f"seed {seed}\nmissing: {want - got}\ntoo much: {got - want}"
    print("24 random heaps: every way as the twin has it")


def damaged(folder):
    """A dump that is cut, or has a wrong byte, is refused with the place, or read; never more."""
    heap = Heap(7, True)
    whole, part = folder / "whole.hprof", folder / "part.hprof"
    heap.write(whole)
    data = whole.read_bytes()
    part.write_bytes(data[:-30])
    code, _, err = mire(part)
    assert code == 1 and re.search(r"byte \d+: the file ends within the record that begins here", err), err
    rng = random.Random(1)
    for _ in range(50):
        torn = bytearray(data[: rng.randrange(20, len(data))])
        torn[rng.randrange(len(torn))] ^= 1 << rng.randrange(8)
        part.write_bytes(torn)
        code, _, err = mire(part)
        assert code in (0, 1), (code, err)
    part.write_bytes(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 3, 0) + bytes(40))
    code, _, err = mire(part)
    assert code == 1 and "byte 19: ids must have 4 or 8 bytes" in err, err


PROGRAM = """
import java.util.*;
public class Dumped {
    static class Node { Node next; byte[] data; Node(int n) { data = new byte[n]; } }
    static class Cache { Map<Integer, String> names = new HashMap<>(); }
    static Cache cache = new Cache();
    static Node list;
    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) cache.names.put(i, "name number " + i);
        for (int i = 0; i < n; i++) { Node x = new Node(i % 50); x.next = list; list = x; }
        System.out.println(ProcessHandle.current().pid());
        System.in.read();
    }
}
"""


# References that keep nothing, locals of threads, values of threads, and what is garbage.
HOLDING = """
import java.lang.ref.*;
import java.util.*;
import java.util.concurrent.*;
public class Holding {
    static class Page { byte[] bytes = new byte[700]; Page other; Object owner; }
    static class Local { long a; int b; Page page = new Page(); }
    static final List<Reference<Page>> seen = new ArrayList<>();
    static final ThreadLocal<Local> own = new ThreadLocal<>();
    static final Map<String, Page> shared = new ConcurrentHashMap<>();
    enum Kind { ONE, TWO; Page page = new Page(); }
    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        ReferenceQueue<Page> queue = new ReferenceQueue<>();
        for (int i = 0; i < n; i++) {
            Page page = new Page();
            page.other = new Page();
            page.other.other = page;
            seen.add(i % 3 == 0 ? new WeakReference<>(page, queue) : i % 3 == 1 ? new SoftReference<>(page) : new PhantomReference<>(page, queue));
            if (i % 2 == 0) shared.put("page " + i, page);
        }
        CountDownLatch begun = new CountDownLatch(4);
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                Page[] locals = new Page[n / 10];
                for (int i = 0; i < locals.length; i++) locals[i] = new Page();
                own.set(new Local());
                begun.countDown();
                try { Thread.sleep(600000); } catch (InterruptedException e) { }
                System.out.println(locals.length);
            });
            thread.setDaemon(true);
            thread.start();
        }
        begun.await();
        for (Kind kind : Kind.values()) kind.page.owner = kind;
        System.out.println(ProcessHandle.current().pid());
        System.in.read();
    }
}
"""

# A graph with many ways to each object, arrays of arrays, classes of another loader.
TANGLED = """
import java.util.*;
import java.util.function.*;
public class Tangled {
    static class Node { Node[] next; int number; String name; Node(int n) { number = n; name = n % 7 == 0 ? "node " + n : "shared"; } }
    static class Tree { Tree left, right; long[] values; short s; boolean b; char c; double d; }
    static class Wide extends Tree { Object[][] cells = new Object[3][4]; float f; }
    static Node[] entries = new Node[8];
    static Tree root;
    static Object loaded;
    static final List<Supplier<Object>> calls = new LinkedList<>();
    static Tree grow(int depth) {
        Tree tree = depth % 3 == 0 ? new Wide() : new Tree();
        tree.values = new long[depth];
        if (depth > 0) { tree.left = grow(depth - 1); tree.right = grow(depth - 1); }
        return tree;
    }
    static class Loader extends ClassLoader {
        Class<?> take(String name) throws Exception {
            byte[] bytes = Tangled.class.getResourceAsStream(name + ".class").readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        Random random = new Random(7);
        Node[] all = new Node[n];
        for (int i = 0; i < n; i++) all[i] = new Node(i);
        for (Node node : all) {
            node.next = new Node[random.nextInt(4)];
            for (int i = 0; i < node.next.length; i++) node.next[i] = all[random.nextInt(n)];
        }
        for (int i = 0; i < entries.length; i++) entries[i] = all[random.nextInt(n)];
        root = grow(9);
        var made = new Loader().take("Tangled$Tree").getDeclaredConstructor();
        made.setAccessible(true);
        loaded = made.newInstance();
        for (int i = 0; i < 50; i++) { Object[] kept = {all[i], new int[i]}; calls.add(() -> kept); }
        all = null;
        System.out.println(ProcessHandle.current().pid());
        System.in.read();
    }
}
"""


def dump_of_java(folder, count, heap, name="Dumped", program=PROGRAM):
    """A dump that a Java machine wrote, and its own table of classes; None where none is installed."""
    if not all(map(shutil.which, ("java", "javac", "jcmd"))):
        return print("no Java machine is installed: its dumps were not read")
    (folder / f"{name}.java").write_text(program)
    subprocess.run(["javac", f"{name}.java"], cwd=folder, check=True, timeout=300)
    with subprocess.Popen(["java", f"-Xmx{heap}m", "-XX:+UseSerialGC", "-cp", folder, name, str(count)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as java:
        pid = java.stdout.readline().strip()
        path = folder / f"{name}.hprof"
        subprocess.run(["jcmd", pid, "GC.heap_dump", "-all", path], check=True, timeout=300, stdout=subprocess.DEVNULL)
        table = subprocess.run(["jcmd", pid, "GC.class_histogram", "-all"], check=True, timeout=300, capture_output=True, text=True).stdout
        java.stdin.close()
        java.wait(timeout=60)
    return path, table


def same_ways(path, classes):
    """Every way as the other reader has it; each class's ways have its name in them."""
    want, got = heap_dump.ways(path), told(path)
    assert want == got, f"{path.name}\nmissing: {(want - got).most_common(5)}\ntoo much: {(got - want).most_common(5)}"
    for name in classes:
        assert any(name in way.split(";") for way in want), name
    print(f"{path.name}: {len(want)} ways of {sum(want.values())} bytes, as the other reader has them")


def of_java(folder):
    """Objects and bytes of classes are the machine's own; who keeps them is what the program wrote."""
    dump = dump_of_java(folder, 3000, 256)
    if not dump:
        return
    path, table = dump
    code, out, err = mire("--top", 100000, "--stacks", 0, path)
    assert code == 0, err
    for name in ("Dumped$Node", "java.util.HashMap$Node", "Dumped$Cache"):
        count = int(re.search(rf"(\d+) +(\d+)  {re.escape(name)}(?: |$)", table, re.M)[1])
        line = next(line for line in out.splitlines() if line.endswith(f"  {name}"))
        assert f"{count:,}" in line.split(), (count, line)
    ways = told(path)
    assert ways["jvm.root.several;Dumped.<static>;Dumped$Node"] == 3000 * 24, ways
    same_ways(path, ["Dumped$Node"])
    for name, program, classes in (("Holding", HOLDING, ["Holding$Page", "Holding$Local"]),
                                   ("Tangled", TANGLED, ["Tangled$Node", "Tangled$Wide", "Tangled$Loader"])):
        same_ways(dump_of_java(folder, 400, 64, name, program)[0], classes)
    below = "jvm.root.several;Dumped.<static>;Dumped$Cache;java.util.HashMap;java.util.HashMap$Node[];java.util.HashMap$Node"
    assert ways[below] == 3000 * 32 and ways[below + ";java.lang.String"] == 3000 * 24, ways


def big(folder):
    """A gigabyte in less than 256 MiB."""
    path, _ = dump_of_java(folder, 4300000, 3500)
    start = time.monotonic()
    with subprocess.Popen([MIRE, "memory", "--top", "5", "--stacks", "1", path], stdout=subprocess.PIPE, text=True) as reader:
        out = reader.stdout.read()
        _, status, usage = os.wait4(reader.pid, 0)
    seconds = time.monotonic() - start
    print(f"most memory: {usage.ru_maxrss // 1024} MiB")
    assert status == 0 and usage.ru_maxrss < 256 * 1024
    print(out)
    print(f"{path.stat().st_size / 2**20:.0f} MiB read in {seconds:.0f} s")


def main():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        folder = pathlib.Path(folder)
        if "--big" in sys.argv:
            return big(folder)
        random_heaps(folder)
        damaged(folder)
        of_java(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
