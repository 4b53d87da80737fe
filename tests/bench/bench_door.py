#!/usr/bin/env python3
"""bench_door.py - honest devices while others press against the door: `name value unit | goal <= N | ok|short`.

Devices of one app send reports at a steady pace over connections that stay open. Rounds without an attack and rounds with one take
turns, so that a machine that others use too tells a ratio all the same. Attackers have processes of their own with the lowest
priority, because their processor time would be another machine's, and addresses of their own.

    uploads    512 MB are announced without a key, and no byte of them comes
    headers    thousands of connections send a byte of a header now and then
    flood      another app's key sends reports as fast as answers come
    questions  32 readers ask for ten years

    make bench-door                all
    make bench-door ONLY=flood     those whose name has that word
"""

import contextlib
import http.client
import multiprocessing
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

DEVICES, PACE_S = 6, 0.05  # connections, and the time between two reports of each
ROUND_S, ROUNDS, WARM_S = 4, 3, 1
ANNOUNCERS, TRICKLERS, FLOODERS, READERS = 64, 4200, 8, 32
SEEDED, SEEDED_DAYS = 20000, 80
SLOWER, LEAST = 3, 0.8  # goals: p95 of an answer, and reports stored, beside a quiet round
shorts = []


def say(name, value, unit, goal, order):
    short = value > goal if order == "<=" else value < goal
    shorts.extend([name] * short)
    print(f"{name} {value:.4g} {unit} | goal {order} {goal} | {'short' if short else 'ok'}", flush=True)


# --- honest devices ---


class Devices:
    """One round: each device sends a report every PACE_S, or as soon as it has its answer."""

    def __init__(self, port, key):
        self.port, self.key, self.took, self.failed = port, key, [], 0
        self.lock = threading.Lock()

    def send(self, until):
        connection, due = None, time.monotonic()
        while (now := time.monotonic()) < until:
            if now < due:
                time.sleep(due - now)
            due = max(due + PACE_S, time.monotonic() - PACE_S)
            connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20, source_address=("127.0.0.2", 0))
            body, begun, status = mired.report(mired.report_id()), time.monotonic(), None
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection.request("POST", "/api/v1/reports", body, {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                status = answer.status
            with self.lock:
                if status == 202:
                    self.took.append(time.monotonic() - begun)
                else:
                    self.failed += 1
                    connection.close()
                    connection = None
        if connection:
            connection.close()

    def run(self):
        until = time.monotonic() + ROUND_S
        threads = [threading.Thread(target=self.send, args=(until,)) for _ in range(DEVICES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self


# --- attackers, each in processes of its own ---


def connect(port, address):
    return socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(address, 0))


def announce(port, key, over):
    """Uploads whose bytes never come."""
    head = b"PUT /api/v1/symbols HTTP/1.1\r\nHost: localhost\r\nContent-Length: 536870000\r\n\r\n"
    while not over.is_set():
        socks = []
        with contextlib.suppress(OSError):
            for _ in range(ANNOUNCERS):
                socks.append(connect(port, "127.0.0.3"))
                socks[-1].sendall(head)
        time.sleep(0.2)
        for sock in socks:
            sock.close()


def trickle(port, key, over):
    """Headers that never end, from many addresses; one that was cut off comes again."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    socks, at = {}, 0
    while not over.is_set():
        at = (at + 1) % min(TRICKLERS, files - 200)
        try:
            if at not in socks:
                socks[at] = connect(port, f"127.0.{1 + at // 200}.{4 + at % 200}")
                socks[at].sendall(b"POST /api/v1/reports HTTP/1.1\r\nX-Long: ")
            socks[at].sendall(b"a")
        except OSError:
            if at in socks:
                socks.pop(at).close()
        time.sleep(0.0005)


def flood(port, key, over):
    def send(_number):
        connection = None
        while not over.is_set():
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=20, source_address=("127.0.0.4", 0))
                connection.request("POST", "/api/v1/reports", mired.report(mired.report_id()),
                                   {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                connection = None

    in_threads(send, FLOODERS)


def read(port, key, over):
    paths = ("issues", "overview", "rates", "versions", "changes", "facets")

    def ask(number):
        while not over.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=("127.0.0.5", 0))
                connection.request("GET", f"/api/v1/apps/shop/{paths[number % len(paths)]}?t={3650 - number}d")
                connection.getresponse().read()
                connection.close()

    in_threads(ask, READERS)


def in_threads(work, count):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


ATTACKS = {"uploads": announce, "headers": trickle, "flood": flood, "questions": read}


def humbly(attack, port, key, over):
    os.nice(19)
    attack(port, key, over)


@contextlib.contextmanager
def under(attack, port, key):
    over = multiprocessing.Event()
    process = multiprocessing.Process(target=humbly, args=(attack, port, key, over))
    process.start()
    try:
        time.sleep(WARM_S)
        yield
        assert process.is_alive(), f"{attack.__name__} ended"
    finally:
        over.set()
        process.join(60)
        if process.is_alive():
            process.kill()
            process.join()


# --- the measurement ---


def p95(rounds):
    return statistics.quantiles([took for one in rounds for took in one.took], n=20)[-1]


def stored(rounds):
    return sum(len(one.took) for one in rounds)


def measure(server, name, key, other):
    quiet, pressed = [], []
    for _ in range(ROUNDS):
        mired.until("all is worked on", lambda: server.sql("SELECT count(*) FROM inbox") == ["0"])
        quiet.append(Devices(server.port, key).run())
        with under(ATTACKS[name], server.port, other):
            pressed.append(Devices(server.port, key).run())
    say(f"{name}_p95_ratio", p95(pressed) / p95(quiet), "x", SLOWER, "<=")
    say(f"{name}_stored_ratio", stored(pressed) / stored(quiet), "x", LEAST, ">=")
    print(f"{name}_p95_ms {p95(quiet) * 1e3:.3g} quiet, {p95(pressed) * 1e3:.3g} pressed; refused {sum(one.failed for one in pressed)}", flush=True)


def main():
    only = os.environ.get("ONLY", "")
    with mired.scratch("door") as folder:
        server = mired.Mired(pathlib.Path(folder))
        try:
            key, other = server.key("honest", "ingest"), server.key("other", "ingest")
            server.mire("seed", "shop", "--reports", SEEDED, "--days", SEEDED_DAYS, "--data-dir", server.data)
            mired.until("the seed is worked on", lambda: server.sql("SELECT count(*) FROM inbox") == ["0"], 900)
            mired.until("the keys are known", lambda: {server.ask("POST", "/api/v1/reports", one, mired.report(mired.report_id()))[0]
                                                       for one in (key, other)} == {202})
            Devices(server.port, key).run()
            for name in ATTACKS:
                if only in name:
                    measure(server, name, key, other)
        finally:
            server.stop()
    return subprocess.run([mired.BINARY / "tests/bench/bench_access"]).returncode != 0 or bool(shorts)


if __name__ == "__main__":
    sys.exit(main())
