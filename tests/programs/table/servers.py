"""Servers."""
import fcntl
import os
import pwd
import socket
import subprocess
import threading
import time

from rows import Hang, Memory, Row, blocked_log, fed
from subject import until


def redis(subject, *words):
    return subject.run("redis-cli", "-p", "{port}", *words)


def redis_ready(subject):
    return subject.answers() and "PONG" in redis(subject, "ping")


def redis_fill(subject):
    redis(subject, "debug", "populate", "900000", "key", "40")


def redis_keys(subject):
    redis(subject, "eval", f"for i = 1, {subject.amount(3)} do redis.call('KEYS', '*7*1*9*') end", "0")


REDIS = Row(
    "redis", ("redis-server", "redis-cli"),
    ("redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--dir", "{dir}", "--enable-debug-command", "yes"),
    (Hang("DEBUG SLEEP", lambda s: redis(s, "debug", "sleep", "1.3"), ("debugCommand",), ("readQueryFromClient", "debugCommand", "call", "processCommand*"),
          reasons=("sleep",)),
     Hang("KEYS in a script", redis_keys, ("keysCommand",), ("readQueryFromClient", "evalCommand", "evalGenericCommand*", "keysCommand"),
          good1=("luaRedis*", "scriptCall", "stringmatch*"), good2=("call", "processCommand*", "scriptCall", "luaRedis*", "luaCallFunction"),
          before=redis_fill)),
    quit=lambda s: redis(s, "shutdown", "nosave"), ready=redis_ready, quick=True,
    memory=Memory(redis_fill, ("debugCommand",), ("sds*", "createStringObject*", "dictAdd*")))


# As Debian ships it: started by root, it gives up root for the user mosquitto.
def mosquitto_conf(subject):
    os.chmod(subject.folder, 0o755)
    subject.write("conf", f"listener {subject.port} 127.0.0.1\nallow_anonymous true\nlog_dest stderr\nmax_queued_messages 0\n")


def retain(subject, count, topic="t"):
    """Retained messages, in MQTT 3.1.1."""
    with socket.create_connection(("127.0.0.1", subject.port), timeout=60) as line:
        line.sendall(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01p")
        line.recv(4)
        for begin in range(0, count, 1000):
            line.sendall(b"".join(b"\x31" + bytes([len(name) + 22]) + len(name).to_bytes(2, "big") + name + b"x" * 20
                                  for name in (b"%s/%07d" % (topic.encode(), i) for i in range(begin, min(count, begin + 1000)))))
        line.sendall(b"\xc0\x00")
        line.recv(2)


def mosquitto_all(subject):
    """One message published to a great many subscriptions of one client with overlapping patterns, and all that is retained."""
    with socket.create_connection(("127.0.0.1", subject.port), timeout=60) as line:
        line.sendall(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01s")
        line.recv(4)
        line.sendall(b"\x82\x06\x00\x01\x00\x01#\x00")
        line.settimeout(20)
        time.sleep(0.1)
        subject.until_busy(0.2, 3)
        subject.settle(20)


def mosquitto_connects(subject):
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", subject.port), timeout=20) as line:
            line.sendall(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01q")
            line.recv(4)


MOSQUITTO = Row(
    "mosquitto", ("mosquitto",), ("mosquitto", "-c", "{dir}/conf"),
    (Hang("log nobody reads", blocked_log(mosquitto_connects), ("log__printf", "log__vprintf", "mosquitto+0x*"),
          ("handle__connect*", "handle__packet", "listeners__*", "loop_handle_*", "net__socket_accept"),
          good1=("net__*", "loop_handle_*", "mux_epoll__*"), good2=("mosquitto_main_loop", "mosquitto+0x*", "mux*"), reasons=("io",)),
     Hang("# of 400,000 retained", mosquitto_all,
          ("handle__subscribe", "retain__*", "db__message_insert", "sub__*", "packet__*", "send__*", "mosquitto+0x*"),
          ("handle__subscribe", "handle__packet", "packet__read", "loop_handle_*"),
          good1=("db__*", "net__*", "util__*"), good2=("mux*", "mosquitto_main_loop", "mosquitto+0x*"), reasons=("cpu", "io"),
          before=lambda s: retain(s, s.amount(400_000)))),
    prepare=mosquitto_conf, ready=lambda s: s.answers(), log="stderr", quick=True,
    memory=Memory(lambda s: retain(s, 400_000), ("handle__publish", "handle__packet", "retain__store", "db__*", "property__*", "mosquitto+0x*"), ("packet__*",)))


def nginx_conf(subject):
    os.chmod(subject.folder, 0o755)
    subject.fifo("access")
    rules = " ".join('if ($arg_a ~ "^(?:a|a)*c%d?$") { return 204; }' % n for n in range(9))
    subject.write("conf", f"""daemon off; worker_processes 1; pid {subject.folder}/pid; error_log stderr;
events {{ }}
http {{ log_format wide "$request_uri$request_uri$request_uri$request_uri";
server {{ listen 127.0.0.1:{subject.port}; access_log off; client_header_buffer_size 16k; large_client_header_buffers 4 32k;
location /log {{ access_log {subject.folder}/access wide; return 204; }}
location /re {{ {rules} return 200; }} }} }}
""")
    subject.reader = os.open(subject.path("access"), os.O_RDWR)  # nginx opens it for writing, and a small pipe it is
    fcntl.fcntl(subject.reader, fcntl.F_SETPIPE_SZ, 4096)


def get(subject, path, **more):
    return subject.ask(f"GET {path} HTTP/1.0\r\nHost: a\r\n\r\n", **more)


def nginx_log(subject):
    """The access log is a pipe whose reader has stopped."""
    for _ in range(3):
        threading.Thread(target=lambda: get(subject, "/log?" + "b" * 900), daemon=True).start()
        time.sleep(0.05)
    subject.until_busy()
    time.sleep(1.2)
    until(lambda: len(os.read(subject.reader, 65536)) and subject.is_waiting(), 10)


def nginx_worker(subject):
    with open(f"/proc/{subject.pid}/task/{subject.pid}/children") as file:
        return int((file.read().split() or ["0"])[0])


NGINX = Row(
    "nginx", ("nginx",), ("nginx", "-p", "{dir}", "-c", "{dir}/conf"),
    (Hang("access log nobody reads", nginx_log, ("ngx_http_log_handler", "ngx_http_log_write", "nginx+0x*"), ("ngx_http_process_request*", "ngx_http_wait_request_handler", "ngx_http_free_request"),
          good1=("ngx_http_free_request", "ngx_http_close_request"), good2=("ngx_http_*",), reasons=("io",)),
     Hang("regular expressions", lambda s: [get(s, "/re?a=" + "a" * (20 + s.doublings) + "bc")], ("ngx_http_regex_exec", "ngx_http_script_regex_start_code", "ngx_http_rewrite_handler"),
          ("ngx_http_process_request*", "ngx_http_wait_request_handler"), good1=("ngx_*", "pcre2*", "libpcre2*"), good2=("ngx_http_*",))),
    prepare=nginx_conf, ready=lambda s: s.answers(), worker=nginx_worker)


DNSMASQ_LINES = 400_000


def dnsmasq_prepare(subject):
    subject.write("hosts", "".join(f"10.{i >> 16}.{i >> 8 & 255}.{i & 255} name-{i:07}.example\n" for i in range(subject.amount(DNSMASQ_LINES))))
    subject.write("names", "")


def dnsmasq_again(subject, make):
    os.remove(subject.path("names"))
    make(subject.path("names"))
    subject.kill(1)


def dnsmasq_fifo(subject):
    dnsmasq_again(subject, os.mkfifo)
    subject.feed("names", b"127.0.0.1 one\n")
    until(subject.is_waiting)


def dnsmasq_many(subject):
    dnsmasq_again(subject, lambda path: os.link(subject.path("hosts"), path))
    subject.until_busy(0.2)
    subject.settle()


DNSMASQ = Row(
    "dnsmasq", ("dnsmasq",), ("dnsmasq", "-k", "-u", "root", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--port={port}", "--listen-address=127.0.0.1",
                              "--bind-interfaces", "--log-facility=-", "--pid-file=", "--addn-hosts={dir}/names"),
    (Hang("hosts from a FIFO", dnsmasq_fifo, ("dnsmasq+0x*",), ("dnsmasq+0x*",), reasons=("io",)),
     Hang("400,000 hosts", dnsmasq_many, ("dnsmasq+0x*",), ("dnsmasq+0x*",), good1=("main",), good2=("main",))),
    prepare=dnsmasq_prepare, ready=lambda s: "started" in s.said() and s.answers(),
    memory=Memory(dnsmasq_many, ("dnsmasq+0x*",), ("main",), 20000))


def haproxy_conf(subject):
    subject.write("busy.lua", """
core.register_service("busy", "http", function(applet)
  local text = ("a"):rep(tonumber(applet.qs) or 1200)
  text:find("^.-.-.-b")
  applet:set_status(200) applet:start_response() applet:send("done")
end)
core.register_service("fifo", "http", function(applet)
  local file = io.open("%s") file:read("l") file:close()
  applet:set_status(200) applet:start_response() applet:send("done")
end)
""" % subject.fifo("fifo"))
    subject.write("conf", f"""global
  nbthread 1
  lua-load {subject.path('busy.lua')}
  tune.lua.service-timeout 60s
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 9s
frontend f
  bind 127.0.0.1:{subject.port}
  http-request use-service lua.fifo if {{ path /fifo }}
  http-request use-service lua.busy
""")


HAPROXY = Row(
    "haproxy", ("haproxy",), ("haproxy", "-db", "-f", "{dir}/conf"),
    (Hang("pattern in Lua", lambda s: get(s, f"/?{850 * s.amount(1) ** (1 / 3):.0f}"), ("hlua_*", "haproxy+0x*"), ("hlua_*", "process_stream", "task_run_applet", "http_*"),
          good1=("lua_*", "luaL_*", "liblua*"), good2=("run_tasks_from_lists", "process_runnable_tasks", "haproxy+0x*", "run_poll_loop")),
     Hang("FIFO in Lua", fed(lambda s: get(s, "/fifo")), ("hlua_*", "haproxy+0x*"),
          ("hlua_*", "process_stream", "task_run_applet", "http_*"), good1=("lua_*", "luaL_*", "liblua*"), reasons=("io",),
          good2=("run_tasks_from_lists", "process_runnable_tasks", "haproxy+0x*", "run_poll_loop"))),
    prepare=haproxy_conf, ready=lambda s: s.answers())


POSTGRES_BIN = "/usr/lib/postgresql/15/bin/"
SQL_HEAVY = "select count(*) from generate_series(1, {}) a where md5(a::text) like 'ab%'"


def postgres_prepare(subject):
    user = pwd.getpwnam("postgres")
    os.chmod(subject.folder, 0o755)
    os.makedirs(subject.path("data"))
    os.chown(subject.path("data"), user.pw_uid, user.pw_gid)
    subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", POSTGRES_BIN + "initdb", "-D", subject.path("data"), "-A", "trust",
                    "--no-sync", "-U", "postgres"], check=True, capture_output=True, cwd="/")
    os.chmod(subject.fifo("fifo"), 0o666)


class Psql:
    """A client that stays, so that its backend does."""

    def __init__(self, subject):
        self.process = subprocess.Popen(["psql", "-qXAt", "-h", "127.0.0.1", "-p", str(subject.port), "-U", "postgres", "-d", "postgres"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ask(self, text):
        self.process.stdin.write(text + ";\n\\echo .\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) not in ("", ".\n"):
            lines.append(line.strip())
        return lines


def postgres_backend(subject):
    subject.psql = Psql(subject)
    return int(subject.psql.ask("select pg_backend_pid()")[0])


def postgres_fifo(subject):
    subject.psql.ask(f"select pg_read_file('{subject.path('fifo')}')")


POSTGRES = Row(
    "postgres", (POSTGRES_BIN + "postgres", "psql", "setpriv"),
    ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", POSTGRES_BIN + "postgres", "-D", "{dir}/data", "-p", "{port}", "-c",
     "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "jit=off", "-c", "max_parallel_workers_per_gather=0"),
    (Hang("md5 of 2.5 million", lambda s: s.psql.ask(SQL_HEAVY.format(s.amount(2_500_000))), ("md5_*", "pg_md5_*", "standard_ExecutorRun", "postgres+0x*", "Exec*"), ("exec_simple_query", "PostgresMain", "PortalRun"),
          good1=("exec_simple_query", "int4out", "pg_*", "like*", "textlike", "*FunctionScan*"), good2=("PostmasterMain", "ServerLoop", "postgres+0x*")),
     Hang("pg_read_file of a FIFO", fed(postgres_fifo), ("pg_read_file*", "read_text_file", "read_binary_file", "AllocateFile", "postgres+0x*"),
          ("exec_simple_query", "PostgresMain", "PortalRun"), good1=("Exec*", "standard_ExecutorRun"), good2=("PostmasterMain", "ServerLoop", "postgres+0x*"), reasons=("io",))),
    prepare=postgres_prepare, ready=lambda s: s.answers() and "ready to accept" in s.said(), worker=postgres_backend,
    quit=lambda s: s.kill(2), signal=3)  # fast; on 15 it waits for its clients

ROWS = [REDIS, MOSQUITTO, NGINX, DNSMASQ, HAPROXY, POSTGRES]
