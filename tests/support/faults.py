"""A proxy in front of mired that does to reports what networks do: one fault a request, in turn, then none.

It speaks HTTP/1.1 to both sides, keeps the client's connections, and makes one upstream for each request. Each POST is
noted: when it came, over which connection, and what became of it.
"""
import socket
import ssl
import struct
import threading
import time


class Gone(Exception):
    """The client has closed the connection."""


def read_head(connection, rest):
    while b"\r\n\r\n" not in rest:
        more = connection.recv(65536)
        if not more:
            raise Gone
        rest += more
    head, rest = rest.split(b"\r\n\r\n", 1)
    return head, rest


def length_of(head):
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


class Exchange:
    """One request that has come as far as its headers."""

    def __init__(self, proxy, connection, head, rest):
        self.proxy, self.connection, self.head, self.body = proxy, connection, head, rest
        self.length = length_of(head)

    def read_body(self, upto=None):
        upto = self.length if upto is None else upto
        while len(self.body) < upto:
            more = self.connection.recv(65536)
            if not more:
                raise Gone
            self.body += more
        return self.body[:upto]

    def upstream(self):
        connection = socket.create_connection(("127.0.0.1", self.proxy.port), 60)
        connection.sendall(self.head + b"\r\nConnection: close\r\n\r\n")
        return connection

    def forward(self, piece=None, pause=0.0):
        """The server's whole answer."""
        with self.upstream() as server:
            body = self.read_body()
            for at in range(0, len(body), piece or len(body) or 1):
                server.sendall(body[at:at + (piece or len(body))])
                time.sleep(pause)
            answer = b""
            while more := server.recv(65536):
                answer += more
        if not answer:
            raise OSError("no answer from mired")
        return answer.replace(b"\r\nConnection: close", b"", 1)

    def reply(self, status, headers=(), body=b"{}"):
        lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}", *[f"{name}: {value}" for name, value in headers]]
        self.connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def reset(self):
        raw = self.connection
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
        raise Gone


class Proxy:
    def __init__(self, port, context=None):
        self.port, self.context, self.faults, self.posts, self.others, self.connections = port, context, [], [], 0, 0
        self.cut = 0  # so many connections are closed in the middle of the client's first message
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        scheme = "https" if context else "http"
        self.url = f"{scheme}://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with self.lock:
            self.connections += 1
            number = self.connections
            cut, self.cut = self.cut > 0, max(0, self.cut - 1)
        try:
            if cut:
                connection.recv(10)
                raise Gone
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            rest = b""
            while True:
                head, rest = read_head(connection, rest)
                exchange = Exchange(self, connection, head, rest)
                self.answer(exchange, number)
                rest = exchange.body[exchange.length:]
        except (Gone, OSError, ssl.SSLError):
            pass
        finally:
            connection.close()

    def answer(self, exchange, number):
        fault = None
        with self.lock:
            if exchange.head.startswith(b"POST"):
                fault = self.faults.pop(0) if self.faults else None
                self.posts.append((time.monotonic(), number, fault.__name__ if fault else "passed"))
            else:
                self.others += 1
        if fault:
            fault(exchange)
        else:
            exchange.connection.sendall(exchange.forward())

    def close(self):
        self.listener.close()


# ---- faults ----

def ack_lost(exchange):
    exchange.forward()
    raise Gone


def half_an_ack(exchange):
    exchange.connection.sendall(exchange.forward()[:-20])
    raise Gone


def reset_mid_body(exchange):
    exchange.read_body(exchange.length // 2)
    exchange.reset()


def reset_after_the_body(exchange):
    exchange.forward()
    exchange.reset()


def slow_body(exchange):
    """A piece every 10 ms. What is lost on the way there is sent again by TCP; here only time is."""
    exchange.connection.sendall(exchange.forward(piece=64, pause=0.01))


def slow_answer(exchange):
    for byte in exchange.forward():
        exchange.connection.sendall(bytes([byte]))
        time.sleep(0.002)


def portal(exchange):
    exchange.read_body()
    exchange.reply(200, [("Content-Type", "text/html")], b"<html><body>Welcome! Please accept the terms of this network.</body></html>")


def portal_elsewhere(exchange):
    exchange.read_body()
    exchange.reply(302, [("Location", "http://portal.invalid/login")], b"")


def answers(status, *headers):
    def fault(exchange):
        exchange.read_body()
        exchange.reply(status, [(name, value() if callable(value) else value) for name, value in headers])
    fault.__name__ = f"status {status}"
    return fault
