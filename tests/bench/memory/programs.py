"""Programs to measure a heap monitor on: Debian's own binaries, each with work of its own making, the same bytes every time.

    make_all(scratch, tools)   -> [Program], their inputs written below scratch; tools: what was built of tests/
    Program.run(env, scratch)  -> (processor seconds, most bytes resident), of the program alone; `look` is called with the
                                  process once it has begun; all of it on one processor if `cpu` says which
    run_pair(program, ...)     -> the same of a run and a bare one

The inputs are generated from fixed seeds; nothing of the clock or of the machine goes into them."""
import concurrent.futures
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time

LIMIT_S = 120  # a run that takes longer is broken
spend = None


class Program:
    """One command; `env` is added to the monitor's; `parallel`: its threads are to run at the same time."""

    def __init__(self, name, argv, env=None, parallel=False):
        self.name, self.argv, self.env, self.parallel = name, argv, env or {}, parallel

    def start(self, env, scratch, argv, cpu):
        plain = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        there = ["taskset", "-c", str(cpu)] if cpu is not None else []
        argv = [*there, spend, scratch + "/spent", *(f"{name}={value}" for name, value in {**self.env, **env}.items()), "--", *argv]
        return subprocess.Popen(argv, env=plain, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, env, scratch, look=lambda process: None, cpu=None):
        process = self.start(env, scratch, self.argv, cpu)
        look(process)
        return self.finish(process, scratch)

    def finish(self, process, scratch):
        try:
            code = process.wait(LIMIT_S)
        finally:
            process.kill()
        if code:
            raise RuntimeError(f"{self.name}: ended with {code}")
        with open(scratch + "/spent") as file:
            ns, resident = map(int, file.read().split())
        return ns / 1e9, resident


class Redis(Program):
    """A server is fed one file of commands and told to leave."""

    def __init__(self, commands, replies):
        super().__init__("redis", ["redis-server"])
        self.commands, self.replies = commands, replies

    def run(self, env, scratch, look=lambda process: None, cpu=None):
        with tempfile.TemporaryDirectory(dir=scratch) as home:
            path = home + "/socket"
            argv = [*self.argv, "--port", "0", "--unixsocket", path, "--save", "", "--dir", home]
            process = self.start(env, scratch, argv, cpu)
            look(process)
            with self.connected(path) as line:
                self.feed(line)
                line.sendall(b"SHUTDOWN NOSAVE\r\n")
                return self.finish(process, scratch)

    @staticmethod
    def connected(path):
        for _ in range(500):
            line = socket.socket(socket.AF_UNIX)
            try:
                line.connect(path)
                return line
            except OSError:
                line.close()
                time.sleep(0.01)
        raise RuntimeError("redis: does not listen")

    def feed(self, line):
        """One batch after the other, each answered before the next is sent, so that every run reads the same pieces."""
        line.settimeout(LIMIT_S)
        for batch, replies in zip(self.commands, self.replies):
            line.sendall(batch)
            while replies > 0:
                got = line.recv(1 << 20)
                if not got:
                    raise RuntimeError("redis: closed the connection")
                replies -= got.count(b"\n")


def run_pair(program, env, scratch, cpu, turn):
    """
    One run with `env` and a bare one at once, on one processor that they take turns on: whatever else the machine does
    slows both alike, within milliseconds. The same program held so against itself differs by a hundredth; run one after
    the other, by a fifth. A parallel program's runs are one after the other all the same, each with all processors: its
    threads would not meet else. Returns what the two used; `turn`: the bare one begins.
    """
    runs = [(env, scratch + "/watched"), ({}, scratch + "/bare")]
    with concurrent.futures.ThreadPoolExecutor(1 if program.parallel else 2) as pool:
        for _, own in runs:
            os.makedirs(own, exist_ok=True)
        where = None if program.parallel else cpu
        begun = {own: pool.submit(program.run, what, own, cpu=where) for what, own in (runs[::-1] if turn else runs)}
        return tuple(begun[own].result() for _, own in runs)


def resp(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def redis():
    """Every reply to these commands is one line."""
    rng = random.Random(11)
    batches, counts = [], []
    for _ in range(1500):
        batch = []
        for _ in range(400):
            key, value = b"%d" % rng.randrange(60000), b"v" * rng.randrange(8, 220)
            batch.append(rng.choice((resp(b"SET", b"s" + key, value), resp(b"SET", b"s" + key, value), resp(b"DEL", b"s" + key),
                                     resp(b"HSET", b"h" + key[:3], key, value), resp(b"HDEL", b"h" + key[:3], key),
                                     resp(b"LPUSH", b"l" + key[:3], value), resp(b"SADD", b"t" + key[:2], value),
                                     resp(b"ZADD", b"z" + key[:2], key, value[:40]), resp(b"APPEND", b"a" + key, value[:30]))))
        batches.append(b"".join(batch))
        counts.append(len(batch))
    return Redis(batches, counts)


SQL = """CREATE TABLE a(id INTEGER PRIMARY KEY, k INTEGER, t TEXT, v REAL); CREATE INDEX ak ON a(k); CREATE INDEX at ON a(t);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
  INSERT INTO a SELECT i, (i * 7919) % 10007, 'text ' || (i * 31 % 4099) || hex(i * 17), i / 3.0 FROM n;
SELECT k, count(*), group_concat(t) FROM a GROUP BY k ORDER BY 2 DESC, 1 LIMIT 5;
"""
SQL_SCAN = "SELECT k % {n}, count(*), sum(v), max(t), avg(length(t)) FROM a WHERE v > {n} GROUP BY 1 ORDER BY 3 DESC LIMIT 9;\n"


def sqlite(scratch):
    """Mostly small statements, as an app's are: each is parsed, planned and thrown away."""
    rng = random.Random(10)
    with open(scratch + "/work.sql", "w") as file:
        file.write(SQL + "".join(SQL_SCAN.format(n=n) for n in range(3, 40)))
        for number in range(24000):
            key = rng.randrange(10007)
            file.write(rng.choice((
                f"INSERT INTO a(k, t, v) VALUES({key}, 'new {number}', {rng.random()});\n",
                f"SELECT x.id, upper(x.t) FROM a x JOIN a y ON x.t = y.t WHERE x.k = {key} AND y.v > {rng.random()} ORDER BY x.v;\n",
                f"SELECT count(*), json_object('k', k, 'n', group_concat(t)) FROM a WHERE k IN ({key}, {key + 1}) GROUP BY k;\n",
                f"UPDATE a SET t = replace(t, 'text', 'then') || {number} WHERE k = {key};\n", f"DELETE FROM a WHERE k = {key};\n")))
    return Program("sqlite", ["/usr/bin/sqlite3", ":memory:", f".read {scratch}/work.sql"])


def xml(scratch):
    rng = random.Random(12)
    with open(scratch + "/work.xml", "w") as file:
        file.write("<?xml version='1.0'?>\n<list>\n")
        for number in range(150000):
            file.write(f"<item id='i{number}' kind='{rng.randrange(40)}'><name lang='en'>Name {rng.randrange(10**6)}</name>"
                       f"<text>{'word ' * rng.randrange(1, 12)}<b>bold</b> &amp; tail</text><v>{rng.random()}</v></item>\n")
        file.write("</list>\n")
    return Program("xmllint", ["/usr/bin/xmllint", "--noout", "--xpath", "count(//item[@kind='7'])", scratch + "/work.xml"])


def json(scratch):
    rng = random.Random(13)
    with open(scratch + "/work.json", "w") as file:
        for number in range(30000):
            file.write('{"id":%d,"group":"g%d","tags":["t%d","t%d"],"at":{"x":%f,"y":%f},"text":"%s"}\n' % (
                number, rng.randrange(200), rng.randrange(50), rng.randrange(50), rng.random(), rng.random(), "ab " * rng.randrange(12)))
    filter_ = ("group_by(.group) | map({group: .[0].group, n: length, x: (map(.at.x) | add), tags: (map(.tags[]) | unique),"
               " text: (map(.text | ascii_upcase) | join(\",\") | length)})")
    return Program("jq", ["/usr/bin/jq", "-s", filter_, scratch + "/work.json"])


LUA = """
local seed = 42
local function rnd(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n end
local function tree(d) if d == 0 then return {} end return {tree(d - 1), tree(d - 1)} end
local function size(t) if not t[1] then return 1 end return 1 + size(t[1]) + size(t[2]) end
local n = 0
for i = 1, 40 do n = n + size(tree(13)) end
local words = {}
for i = 1, 120000 do words[#words + 1] = ("w%d-%s"):format(rnd(9000), ("x"):rep(rnd(30))) end
table.sort(words)
local seen = {}
for _, w in ipairs(words) do seen[w:upper()] = (seen[w:upper()] or 0) + 1 end
local parts = {}
for w, c in pairs(seen) do if c > 1 then parts[#parts + 1] = w .. c end end
for i = 1, 350000 do local c = {i, {x = i}}; n = n + c[1] end
for i = 1, 60000 do local c = setmetatable({i, name = "n" .. i}, {__index = words}); n = n + #c.name end
print(n, #table.concat(parts))
"""


def lua(scratch):
    with open(scratch + "/work.lua", "w") as file:
        file.write(LUA)
    return Program("lua", ["/usr/bin/lua5.4", scratch + "/work.lua"])


PYTHON = """
import ast, json, random
random.seed(5)
class Node:
    def __init__(self, key, child): self.key, self.child, self.names = key, child, [str(key)] * 3
    def far(self): return [(self.key * 1.5, x + 0.5) for x in range(7)]
keep = {}
for i in range(140000):
    keep[random.randrange(12000)] = node = Node(i, (i, float(i)))
    node.far()
text = json.dumps([{"id": n.key, "names": n.names, "c": n.child} for n in keep.values()])
rows = json.loads(text)
count = {}
for i in range(600000): count[i % 5000 + 1000] = (i * 0.5, i + 7.25)
source = "".join(f"def f{i}(a, b={i}):\\n    return [a * x + b for x in range({i}) if x % 3] or {{'k': (a, b)}}\\n" for i in range(300))
tree = ast.parse(source); compile(tree, "s", "exec")
print(len(rows), len(count), sum(1 for _ in ast.walk(tree)))
"""


def python(scratch):
    with open(scratch + "/work.py", "w") as file:
        file.write(PYTHON)
    return Program("python", ["/usr/bin/python3", "-s", "-S", scratch + "/work.py"], {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"})


def c_source(rng, count):
    yield "struct s { int a, b; long c[8]; struct s *next; }; extern int printf(const char *, ...); extern void *get(unsigned long);\n"
    for n in range(count):
        k = [rng.randrange(1, 90) for _ in range(6)]
        yield (f"static int f{n}(struct s *p, int x, long *out) {{ int i, r = x * {k[0]}; switch (x % 7) {{\n"
               f" case 0: for (i = 0; i < {k[1]}; i++) {{ p->c[i & 7] += r ^ i; if (p->c[i & 7] > {k[2]}) r += p->a; }} break;\n"
               f" case 1: while (p) {{ r += p->b * {k[3]}; p = p->next; }} break;\n"
               f" case 2: {{ struct s t = *p; t.a += x; t.next = p; out[{k[4] % 8}] = t.c[x & 3] + t.a; r ^= (int)out[0]; break; }}\n"
               f" case 3: r = r > {k[5]} ? f{max(0, n - k[0]) if n else 0}(p, x - 1, out) : printf(\"%d {n}\\n\", r); break;\n"
               f" default: for (i = x; i; i >>= 1) out[i & 7] = out[(i + {k[2]}) & 7] * {k[1]} + r; }} return r + (int)out[{k[3] % 8}]; }}\n")
    yield "int main(void) { long o[8] = {0}; struct s *p = get(64); int r = 0;\n"
    yield "".join(f" r += f{n}(p, r + {n}, o);\n" for n in range(count)) + " return r; }\n"


def cc1(scratch):
    with open(scratch + "/work.c", "w") as file:
        file.writelines(c_source(random.Random(14), 260))
    path = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return Program("cc1", [path, "-quiet", "-O2", scratch + "/work.c", "-o", "/dev/null"])


def make_all(scratch, tools):
    global spend
    spend = tools + "/integration/spend"
    loop = tools + "/bench/bench_memory_loop"
    made = [sqlite(scratch), xml(scratch), lua(scratch), json(scratch), cc1(scratch), redis(), python(scratch),
            Program("loop", [loop, "2"], parallel=True)]
    missing = [name for name in (*(program.argv[0] for program in made), "taskset") if not shutil.which(name)]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}")
    return made
