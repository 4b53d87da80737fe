"""Interpreters with a loop."""
from rows import Hang, Memory, Row, fed

# Each program listens on its first argument and does as one line says: cpu TIMES, fifo, grow or quit.
PYTHON = """
import asyncio, re, sys
kept = []
async def serve(reader, writer):
    word, _, times = (await reader.readline()).decode().strip().partition(' ')
    for _ in range(int(times or 0)): re.match(r'(?:a|a)*b', 'a' * 25)
    if word == 'fifo': open('fifo').read()
    if word == 'grow': kept.extend(bytes(100) + bytes([i % 256]) for i in range(700000))
    if word == 'quit': stop.set()
    writer.write(b'done'); await writer.drain(); writer.close()
async def main():
    global stop
    stop = asyncio.Event()
    server = await asyncio.start_server(serve, '127.0.0.1', int(sys.argv[1]))
    await stop.wait()
asyncio.run(main())
"""
RUBY = """
require 'socket'
server = TCPServer.new('127.0.0.1', ARGV[0].to_i)
kept = []
loop do
  IO.select([server])
  line = server.accept
  IO.select([line])
  word, times = line.gets.to_s.split
  case word
  when 'cpu' then Array.new(1_500_000 * times.to_i) { |i| i * 7919 % 1_000_003 }.sort { |a, b| b <=> a }
  when 'fifo' then open('fifo') { |f| f.read }
  when 'grow' then 700_000.times { |i| kept << ('x' * 90 + i.to_s) }
  when 'quit' then line.write('done'); exit
  end
  line.write('done')
  line.close
end
"""
PERL = """
use AnyEvent; use AnyEvent::Socket; use AnyEvent::Handle;
my (@kept, $quit); $quit = AE::cv;
tcp_server '127.0.0.1', $ARGV[0], sub {
  my ($fh) = @_; my $h; $h = AnyEvent::Handle->new(fh => $fh, on_error => sub { undef $h });
  $h->push_read(line => sub {
    my ($word, $times) = split ' ', $_[1];
    if ($word eq 'cpu') { my $n = 0; for my $i (1 .. 30000000 * $times) { $n += $i % 7 } }
    if ($word eq 'fifo') { open(my $f, '<', 'fifo'); my $x = <$f>; }
    if ($word eq 'grow') { push @kept, [$_, $_ + 1, "text $_"] for 1 .. 400000 }
    syswrite $fh, 'done'; undef $h;
    $quit->send if $word eq 'quit';
  });
};
$quit->recv;
"""
LUA = """
local uv = require 'luv'
local kept = {}
local server = uv.new_tcp()
server:bind('127.0.0.1', tonumber(arg[1]))
server:listen(16, function()
  local client = uv.new_tcp()
  server:accept(client)
  client:read_start(function(_, data)
    if not data then return end
    local word = data:match('%w+')
    for _ = 1, tonumber(data:match('%d+')) or 0 do (('a'):rep(1300)):find('^.-.-.-b') end
    if word == 'fifo' then local f = io.open('fifo') f:read('a') f:close() end
    if word == 'grow' then for i = 1, 700000 do kept[#kept + 1] = { i, 'text ' .. i } end end
    client:write('done', function() client:close() if word == 'quit' then server:close() uv.stop() end end)
  end)
end)
uv.run()
"""
NODE = """
const fs = require('fs'), kept = [];
const server = require('net').createServer(line => line.once('data', data => {
  const [word, times] = data.toString().trim().split(' ');
  if (word === 'cpu') /^(a+)+$/.test('a'.repeat(27 + Math.log2(times)) + 'b');
  if (word === 'fifo') fs.readFileSync('fifo');
  if (word === 'grow') for (let i = 0; i < 400; i++) kept.push(Buffer.alloc(200000, i));
  line.end('done');
  if (word === 'quit') server.close();
})).listen(+process.argv[2], '127.0.0.1');
"""
GUILE = """
(use-modules (ice-9 rdelim) (ice-9 textual-ports))
(define server (socket PF_INET SOCK_STREAM 0))
(setsockopt server SOL_SOCKET SO_REUSEADDR 1)
(bind server AF_INET INADDR_LOOPBACK (string->number (cadr (command-line))))
(listen server 16)
(define kept '())
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(let loop ()
  (select (list server) '() '())
  (let* ((client (car (accept server)))
         (line (begin (select (list client) '() '()) (read-line client)))
         (words (string-split (if (eof-object? line) "" line) #\space))
         (word (car words)))
    (cond ((string=? word "cpu") (do ((i (string->number (cadr words)) (- i 1))) ((= i 0)) (fib 35)))
          ((string=? word "fifo") (call-with-input-file "fifo" get-string-all)))
    (display "done" client)
    (close-port client)
    (if (not (string=? word "quit")) (loop))))
"""
PHP = """<?php
switch ($_GET['do'] ?? '') {
  case 'cpu': ini_set('pcre.backtrack_limit', '900000000'); preg_match('/^(?:a|a)*$/', str_repeat('a', 27 + (int)log($_GET['times'], 2)) . 'b'); break;
  case 'fifo': file_get_contents('fifo'); break;
}
echo 'done';
"""


def told(word):
    return lambda subject: subject.ask(word + "\n", until_closed=True)


def computes(subject):
    told(f"cpu {subject.amount(1)}")(subject)


def script(text, name):
    return lambda subject: (subject.write(name, text), subject.fifo("fifo"))


def quit_it(subject):
    try:
        told("quit")(subject)
    except OSError:
        pass


def row(name, needs, command, text, cpu, fifo, scene, good1=(), good2=(), memory=None, **more):
    """`cpu`, `fifo`: who is to blame; `scene`: Caller2 of both."""
    return Row(name, needs, command,
               (Hang("cpu", computes, cpu, scene, good1=good1, good2=good2),
                Hang("FIFO", fed(told("fifo")), fifo, scene, good1=good1, good2=good2, reasons=("io",))),
               quit=quit_it, prepare=script(text, "script"), ready=lambda s: s.answers(), memory=Memory(told("grow"), *memory) if memory else None, **more)


ROWS = [
    row("python", ("/usr/bin/python3",), ("/usr/bin/python3", "script", "{port}"), PYTHON, ("serve",), ("serve",), ("serve", "_run_once", "run_forever", "*Handle*_run"),
        good1=("match", "_sre*", "python3*+0x*"), good2=("_asyncio*", "task_step*", "python3*+0x*"), memory=(("serve", "bytes_*", "PyBytes_*"), ("_Py*", "Py*", "list_*", "python3*+0x*")), quick=True),
    row("ruby", ("ruby",), ("ruby", "script", "{port}"), RUBY, ("sort_*", "rb_ary_sort*", "ruby_qsort*", "libruby*+0x*"), ("rb_io_*", "rb_sysopen", "rb_file_*", "rb_open*", "libruby*+0x*"),
        ("libruby*+0x*", "rb_f_loop*", "rb_*", "loop_i"), good1=("rb_*", "ruby_*"), good2=("ruby_*",), memory=(("rb_str_*", "str_*", "libruby*+0x*"), ("rb_*",))),
    row("perl", ("perl",), ("perl", "script", "{port}"), PERL, ("Perl_pp_*", "Perl_runops*"), ("Perl_pp_open", "Perl_do_open*", "PerlIO*", "Perl_*"), ("Perl_pp_*", "Perl_call_sv", "Perl_*", "XS_*"),
        good1=("Perl_*", "perl+0x*"), good2=("perl_run", "main"), memory=(("Perl_pp_*", "Perl_av_*", "Perl_newSV*", "Perl_sv_*"), ("Perl_*",))),
    row("lua", ("lua5.4",), ("lua5.4", "script", "{port}"), LUA, ("lua5.4+0x*", "str_find_aux", "do_match", "match", "main"), ("lua5.4+0x*", "io_open", "main"), ("lua5.4+0x*", "luv.so*+0x*", "lua_*"),
        good1=("lua_*", "luaL_*", "luv.so+0x*"), good2=("main", "luv_*", "uv_*"), memory=(("lua5.4+0x*", "lua*"), ("main",))),
    row("node", ("node",), ("node", "script", "{port}"), NODE, ("*Irregexp*", "*RegExp*", "v8::*", "node+0x*", "Builtins_*"), ("node::fs::*", "*ReadFile*", "*Open*", "node::*", "uv_fs_*"),
        ("node::*Stream*", "node::*::OnUvRead*", "node::InternalMakeCallback*", "node::InternalCallbackScope*", "node::fs::*", "v8::internal::Runtime_RegExpExec*"),
        good1=("uv_*", "uv__*", "[anonymous*"), good2=("node::*", "v8::*"), memory=(("node::Buffer*", "node::NodeArrayBufferAllocator::*"), ("node::*", "v8::*"))),
    row("guile", ("guile",), ("guile", "--no-auto-compile", "script", "{port}"), GUILE, ("libguile*+0x*", "scm_*", "vm_*"), ("libguile*+0x*", "scm_open*", "scm_*"), ("libguile*+0x*", "scm_*"),
        good1=("[anonymous*", "diffuse at [anonymous*"), good2=("main", "[anonymous*")),
    Row("php", ("php",), ("php", "-n", "-S", "127.0.0.1:{port}", "script"),
        (Hang("cpu", lambda s: get(s, f"cpu&times={s.amount(1)}"), ("php_pcre_*", "zif_preg_*", "preg_*", "php*+0x*"), ("php_execute_script", "php_cli_server*", "zend_execute*", "php*+0x*"), good1=("pcre2*", "execute_ex", "libpcre2*"), good2=("main", "php_*", "zend_*", "execute_ex")),
         Hang("FIFO", fed(lambda s: get(s, "fifo")), ("_php_stream_*", "php_stream_*", "php_plain_*", "zif_file_get_contents", "php*+0x*"), ("php_execute_script", "php_cli_server*", "zend_execute*", "php*+0x*"),
              good1=("execute_ex", "php_*"), good2=("main", "php_*", "zend_*", "execute_ex"), reasons=("io",))),
        prepare=script(PHP, "script"), ready=lambda s: s.answers(), signal=2),
]


def get(subject, word):
    subject.ask(f"GET /?do={word} HTTP/1.0\r\nHost: a\r\n\r\n", until_closed=True)
