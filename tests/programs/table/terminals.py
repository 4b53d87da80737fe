"""Programs in a terminal."""
import os
import tarfile

from rows import Hang, Row, fed
from subject import until

LINES = 60_000
ARCHIVED = 450_000


def text_file(subject, lines=LINES):
    subject.fifo("fifo")
    return subject.write("text", "".join(f"{i * 7919 % lines:06} some words of a line that is matched {'a' * (i % 30)}\n" for i in range(lines)))


def typed(text, count=0, at_least=0.2):
    """A `do` that types, `count` or more for %d in it, and waits for the program to be at rest again."""
    def do(subject):
        subject.keys(text % subject.amount(count) if count else text)
        subject.until_busy(at_least)
        subject.settle()
    return do


def opened(text, path="fifo", answer=b"one line\n"):
    return fed(lambda subject: subject.keys(text), path, answer)


VIM = Row(
    "vim", ("vim.basic",), ("vim.basic", "-u", "NONE", "-N", "-n", "{dir}/text"),
    (Hang("nested groups", typed(":silent! 1,%ds/\\%%#=1\\(a*\\)*[xy]//ne\r", 120), ("vim.basic+0x*", "nfa_*", "vim_regexec*", "ex_substitute", "do_sub"),
          ("vim.basic+0x*", "do_one_cmd", "do_cmdline", "nv_colon", "normal_cmd"), good1=("do_one_cmd", "do_cmdline"), good2=("main_loop",)),
     Hang(":r of a FIFO", opened(":r fifo\r"), ("vim.basic+0x*", "readfile", "ex_read"), ("vim.basic+0x*", "do_cmdline", "do_one_cmd", "nv_colon", "normal_cmd"),
          good2=("main_loop",), reasons=("io",))),
    quit=lambda s: s.keys("\x1b:q!\r"), where="tty", prepare=text_file, quick=True)


def mc_prepare(subject):
    text_file(subject)
    many = subject.path("many")
    os.makedirs(many)
    for part in range(subject.amount(4)):  # a file has 65,000 names at most
        first = f"{many}/{part}"
        os.close(os.open(first, os.O_CREAT))
        for i in range(45_000):
            os.link(first, f"{many}/{i * 7919 % 1_000_003:07}-{part}")
    head = bytes(tarfile.TarInfo("many/0000000").tobuf(tarfile.USTAR_FORMAT))
    first, zero = sum(head[:148] + b" " * 8 + head[156:]), head.index(b"0000000")
    with open(subject.path("large.tar"), "wb") as archive:
        for i in range(subject.amount(ARCHIVED)):
            name = b"%07d" % (i * 7919 % 1_000_003)
            total = first + sum(name) - 7 * ord("0")
            archive.write(head[:zero] + name + head[zero + 7:148] + b"%06o\0 " % total + head[156:])
        archive.write(bytes(1024))


MC = Row(
    "mc", ("mc",), ("mc", "-u", "-a", "--nosubshell", "{dir}"),
    (Hang("directory of 180,000", typed("cd many\r"), ("dir_list_load", "dir_list_sort", "do_load_dir*", "mc+0x*", "vfs_*", "mc_*", "local_*", "handle_dirent"),
          ("mc+0x*", "do_cd*", "panel_*", "command_callback", "cd_to", "midnight_*", "enter", "input_*", "send_message"), good1=("main", "str_*"), good2=("dlg_*", "main")),
     Hang("archive of 450,000", lambda s: typed(f"cd {s.path('large.tar')}/utar://\r")(s), ("tar_*", "mc+0x*", "vfs_*"), ("mc+0x*", "do_cd*", "panel_*", "command_callback", "enter", "cd_to", "input_*", "send_message"),
          good1=("main",), good2=("dlg_*", "main"), reasons=("cpu", "io"))),
    quit=lambda s: (s.keys("\x1b0"), s.settle(3), s.keys("\r")), where="tty", prepare=mc_prepare)

EMACS = Row(
    "emacs", ("emacs-nox",), ("emacs-nox", "-nw", "-Q"),
    (Hang("nested regexp", lambda s: typed("\x1b:(string-match \"\\\\(a*\\\\)*b\" (make-string %d ?a))\r" % (22 + s.doublings))(s), ("re_match*", "re_search*", "string_match_1", "Fstring_match", "emacs-nox+0x*"),
          ("Feval", "eval_sub", "Ffuncall*", "Fcall_interactively", "command_loop_1", "emacs-nox+0x*"), good1=("rpl_re*",), good2=("command_loop*", "internal_*", "recursive_edit_1", "exec_byte_code", "F*_command_execute_*")),
     Hang("insert-file of a FIFO", opened("\x1b:(insert-file-contents \"fifo\")\r"), ("emacs_open*", "Finsert_file_contents", "emacs_read*", "emacs-nox+0x*"),
          ("Feval", "eval_sub", "Ffuncall*", "Fcall_interactively", "command_loop_1", "emacs-nox+0x*"), good2=("command_loop*", "internal_*", "recursive_edit_1", "exec_byte_code", "F*_command_execute_*"), reasons=("io",))),
    quit=lambda s: s.keys("\x18\x03"), where="tty", prepare=text_file)

WEECHAT = Row(
    "weechat", ("weechat",), ("weechat", "-a", "-d", "{dir}/home/w"),
    (Hang("/repeat 12000 /print", typed("/repeat %d /print some text\r", 12_000), ("eval_*", "gui_chat_*", "gui_line_*", "hook_*", "command_print", "command_repeat", "weechat+0x*", "input_data", "config_*", "string_*"),
          ("gui_key_*", "command_repeat", "input_data", "gui_input_*", "weechat+0x*"), good1=("gui_*", "infolist_*", "hdata_*", "plugin_*", "*.so+0x*"), good2=("hook_fd_exec", "gui_main_loop", "gui_*")),
     Hang("/reload from a FIFO", lambda s: weechat_reload(s), ("config_file_*", "weechat+0x*"), ("gui_key_*", "command_reload*", "input_data", "gui_input_*", "weechat+0x*", "hook_command_exec"),
          good1=("config_*", "command_*"), good2=("hook_fd_exec", "gui_main_loop", "gui_*"), reasons=("io",))),
    quit=lambda s: s.keys("/quit\r"), where="tty", ready=lambda s: "WeeChat" in s.screen)


def weechat_reload(subject):
    path = "home/w/plugins.conf"
    until(lambda: os.path.exists(subject.path(path)), 10)
    text = open(subject.path(path), "rb").read()
    os.remove(subject.path(path))
    subject.fifo(path)
    subject.keys("/reload plugins\r")
    subject.feed(path, text[:4000])
    os.remove(subject.path(path))
    subject.settle()


MUTT = Row(
    "mutt", ("mutt",), ("mutt", "-n", "-F", "{dir}/rc", "-f", "{dir}/box"),
    (Hang("limit to a body", typed("l~b a.*b.*c.*d.*nothing\r"), ("mutt+0x*", "mutt_*"), ("mutt+0x*", "mutt_*"), good1=("main",), good2=("main",)),
     Hang("source of a FIFO", opened(":source fifo\r", answer=b"set noarrow_cursor\n"), ("mutt+0x*", "mutt_*", "source_rc"), ("mutt+0x*", "mutt_*"), good2=("main",), reasons=("io",))),
    quit=lambda s: s.keys("x"), where="tty",
    prepare=lambda s: (s.fifo("fifo"), s.write("rc", "set noconfirmappend\nset folder=~\nset thorough_search=no\n"),
                       s.write("box", "".join(f"From a@b.example Mon Jan  1 00:00:00 2024\nFrom: a@b.example\nSubject: {i}\n\n{'some words abc ' * 60}\n\n" for i in range(s.amount(6000))))))

BASH = Row(
    "bash", ("bash",), ("bash", "--norc", "--noprofile", "-i"),
    (Hang("counting", typed("for ((i = 0; i < %d; i++)); do :; done\r", 500_000), ("execute_*", "eval_arith*", "evalexp", "bash+0x*", "expr*", "subexpr"),
          ("execute_command*", "reader_loop", "bash+0x*", "parse_*"), good1=("main", "dispose_*", "*find_variable*", "bind_*"), good2=("main",)),
     Hang("read from a FIFO", opened("read word < fifo\r"), ("do_redirection*", "redir_open", "bash+0x*", "read_builtin", "execute_builtin*"),
          ("execute_command*", "reader_loop", "bash+0x*"), good2=("main",), good1=("execute_*",), reasons=("io",))),
    quit=lambda s: s.keys("exit\r"), where="tty", signal=1, prepare=lambda s: s.fifo("fifo"))

SQLITE = Row(
    "sqlite3", ("sqlite3",), ("sqlite3", "{dir}/base"),
    (Hang("recursive query", typed("with recursive t(x) as (select 1 union all select x + 1 from t limit %d) select sum(x) from t;\r", 4_000_000),
          ("sqlite3VdbeExec", "sqlite3_step", "libsqlite3.so.0*+0x*"), ("sqlite3+0x*", "main"), good1=("sqlite3+0x*", "sqlite3_*"), good2=("sqlite3_exec", "sqlite3_*")),
     Hang(".read of a FIFO", opened(".read fifo\r", answer=b"select 1;\n"), ("sqlite3+0x*", "main"), ("sqlite3+0x*", "main"), reasons=("io",))),
    quit=lambda s: s.keys(".quit\r"), where="tty", signal=1, prepare=lambda s: s.fifo("fifo"))

LESS = Row(
    "less", ("less",), ("less", "-n", "-f", "{dir}/text"),
    (Hang("nested groups", typed("/s.*w.*o.*l.*i.*e.*nothing\r"), ("less+0x*", "main"), ("less+0x*", "main")),
     Hang("show the lines that match", typed("&s.*w.*o.*l.*i.*e.*nothing\r"), ("less+0x*", "main"), ("less+0x*", "main"))),
    quit=lambda s: s.keys("q"), where="tty", prepare=lambda s: text_file(s, s.amount(3 * LINES)), reads=(0, 3), env={"LESSSECURE": "0", "LESSOPEN": ""}, signal=15)

BC = Row(
    "bc", ("bc",), ("bc", "-q"),
    (Hang("a power", typed("x=3^%d\r", 300_000), ("bc+0x*", "bc_*", "_bc_*"), ("bc+0x*", "execute", "yyparse", "main"), good1=("main",)),
     Hang("counting", typed("for(i=0;i<%d;i++){}\r", 4_000_000), ("bc+0x*", "bc_*", "_bc_*", "execute"), ("bc+0x*", "execute", "yyparse", "main"), good1=("main",))),
    quit=lambda s: s.keys("quit\r"), where="tty", signal=1)

NANO = Row(
    "nano", ("nano",), ("nano", "-I", "{dir}/text"),
    (Hang("search for a pattern", typed("\x17\x1br\x15s.*w.*o.*l.*i.*e.*nothing\r"), ("nano+0x*", "findnextstr", "strstrwrapper"), ("nano+0x*", "do_search*", "go_looking", "search_init"), good1=("main",), good2=("main",)),
     Hang("replace all", typed("\x1c\x15some\rother\rA"), ("nano+0x*", "do_replace*", "replace_*"), ("nano+0x*", "do_replace*"), good1=("main",), good2=("main",))),
    quit=lambda s: (s.keys("\x03\x18"), s.settle(3), s.keys("n")), where="tty", prepare=lambda s: text_file(s, s.amount(14 * LINES)), reads=(0,), signal=1)

GNUPLOT = Row(
    "gnuplot", ("gnuplot",), ("gnuplot", "-d"),
    (Hang("counting", typed("do for [i=1:%d] { x = i }\r", 700_000), ("gnuplot*+0x*", "evaluate_at", "do_line", "command", "iteration*"), ("gnuplot*+0x*", "com_line", "do_line", "main"), good1=("main",), good2=("main",)),
     Hang("a sum", typed("print sum [i=1:%d] i\r", 30_000_000), ("gnuplot*+0x*", "evaluate_at", "f_sum*", "execute_at"), ("gnuplot*+0x*", "com_line", "do_line", "main"), good1=("main",), good2=("main",))),
    quit=lambda s: s.keys("quit\r"), where="tty", signal=15, reads=(0,))

W3M = Row(
    "w3m", ("w3m",), ("w3m", "-T", "text/html", "{dir}/small"),
    (Hang("a table of 8,500 lines", lambda s: typed(f"U\x15file://{s.path('large.html')}\r")(s), ("w3m+0x*", "GC_*"), ("w3m+0x*",), good1=("main",), good2=("main",)),
     Hang("show its source", lambda s: typed(f"U\x15file://{s.path('text')}\r")(s), ("w3m+0x*", "GC_*"), ("w3m+0x*",), good1=("main",), good2=("main",))),
    quit=lambda s: (s.keys("q"), s.settle(3), s.keys("y")), where="tty", signal=15, reads=(0, 3),
    prepare=lambda s: (text_file(s, s.amount(6 * LINES)), s.write("small", "<p>small"),
                       s.write("large.html", "".join(f"<tr><td>{i}<td><a href=x>some</a> <b>words</b>\n" for i in range(s.amount(LINES // 7))).join(("<table>", "</table>")))))

GDB = Row(
    "gdb", ("gdb",), ("gdb", "-q", "-nx"),
    (Hang("sleep in Python", typed("python __import__('time').sleep(1.3)\r"), ("<module>",), ("gdb+0x*", "python_command*", "execute_command*"),
          good1=("_PyEval*", "Py*", "cfunction*"), good2=("_PyEval*", "Py*", "main", "gdb_*", "*command*"), reasons=("sleep",)),
     Hang("sum in Python", typed("python sum(i * i for i in range(%d))\r", 12_000_000), ("<genexpr>", "<module>"), ("gdb+0x*", "python_command*", "execute_command*"),
          good1=("libpython3*+0x*", "gen_*", "builtin_sum*"), good2=("Py*", "main", "gdb_*", "*command*"))),
    quit=lambda s: s.keys("quit\r"), where="tty", signal=1)

LUA_PROMPT = Row(
    "lua-prompt", ("lua5.4",), ("lua5.4",),
    (Hang("counting", typed("for i = 1, %d do end\r", 300_000_000), ("lua5.4+0x*", "luaV_execute"), ("lua5.4+0x*", "main"), good1=("lua*", "main")),
     Hang("a FIFO", opened("io.open('fifo'):read()\r"), ("lua5.4+0x*", "io_open"), ("lua5.4+0x*", "main"), good1=("lua*", "main"), reasons=("io",))),
    quit=lambda s: s.keys("os.exit(0)\r"), where="tty", signal=1, prepare=lambda s: s.fifo("fifo"))

PYTHON_PROMPT = Row(
    "python-prompt", ("/usr/bin/python3",), ("/usr/bin/python3", "-q"),
    (Hang("sorting", typed("x = sorted(str(i) for i in range(%d))\r", 3_000_000), ("<genexpr>", "<module>"), ("<module>", "<genexpr>"),
          good1=("python3*+0x*", "list_sort*", "builtin_sorted*"), good2=("python3*+0x*",)),
     Hang("a FIFO", opened("x = open('fifo').read()\r"), ("<module>",), ("<module>",), good1=("python3*+0x*", "_io_*"), good2=("python3*+0x*",), reasons=("io",))),
    quit=lambda s: s.keys("exit()\r"), where="tty", signal=1, prepare=lambda s: s.fifo("fifo"))

ROWS = [VIM, MC, EMACS, WEECHAT, MUTT, BASH, SQLITE, LESS, NANO, W3M, BC, GNUPLOT, GDB, LUA_PROMPT, PYTHON_PROMPT]
