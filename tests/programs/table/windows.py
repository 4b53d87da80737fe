"""Programs with windows, under Xvfb."""
import os

from rows import Hang, Row

FUNCTIONS, LINES = 9_000, 400_000


def sources(subject):
    subject.write("small.c", "int main(void) { return 0; }\n")
    words = "some words of a comment " * 60
    subject.write("large.c", "".join(f"int function_{i}(int a) {{ return a * {i}; }} /* {words} */\n" for i in range(subject.amount(FUNCTIONS))))
    os.link(subject.path("large.c"), subject.path("large2.c"))
    os.link(subject.write("large.txt", "".join(f"{i} some words of a text that is long enough to take its time\n" for i in range(subject.amount(LINES)))), subject.path("large2.txt"))


def second(command, *words):
    """A second start of the program hands the file over to the first."""
    return lambda subject: (subject.run(command, *words), subject.until_busy(0.3, 10), subject.settle())


def pressed(*steps):
    """A `do` that presses keys and types texts (those with a space in front), with a rest between."""
    def do(subject):
        for step in steps[:-1]:
            subject.text(step[1:]) if step[0] == " " else subject.keys(step)
            subject.settle(5)
        subject.keys(steps[-1])
        subject.until_busy(0.3, 10)
        subject.settle()
    return do


GEANY = Row(
    "geany", ("geany", "Xvfb", "xdotool"), ("geany", "-c", "{dir}/home/geany", "-s", "-t", "-m", "-p", "--socket-file", "{dir}/socket", "{dir}/small.c"),
    (Hang("open 9,000 functions", second("geany", "-c", "{dir}/home/geany", "--socket-file", "{dir}/socket", "{dir}/large.c"),
          ("libgeany*+0x*", "document_*", "symbols_*", "tm_*", "sci_*", "Sci*", "scintilla_*"), ("libgeany*+0x*", "document_*", "socket_lock_input_cb", "main_handle_filename"), good1=("g_*", "gtk_*"), good2=("main*",)),
     Hang("open as many again", second("geany", "-c", "{dir}/home/geany", "--socket-file", "{dir}/socket", "{dir}/large2.c"), ("libgeany*+0x*", "sci_*", "Sci*", "scintilla_*", "keybindings_*"), ("libgeany*+0x*", "keybindings_*", "on_*"), good1=("g_*", "gtk_*", "main*"), good2=("main*", "gtk_*"))),
    where="window", prepare=sources, ready=lambda s: s.window(), signal=9)

FEATHERPAD = Row(
    "featherpad", ("featherpad", "Xvfb", "xdotool"), ("featherpad", "-s", "{dir}/small.c"),
    (Hang("open 26 MB", pressed("ctrl+o", " large.txt", "Return"), ("FeatherPad::FPwin::addText*", "FeatherPad::*"), ("FeatherPad::*",), good1=("Q*",), good2=("Q*", "main")),
     Hang("cut all", pressed("ctrl+a", "ctrl+x"), ("FeatherPad::TextEdit::cut*", "FeatherPad::*"), ("FeatherPad::*",), good1=("Q*",), good2=("Q*", "main"),
          before=lambda s: pressed("ctrl+o", " large2.txt", "Return")(s))),
    where="window", prepare=sources, ready=lambda s: s.window(), signal=9)

MOUSEPAD = Row(
    "mousepad", ("mousepad", "Xvfb", "xdotool"), ("mousepad", "--disable-server", "{dir}/small.c"),
    (Hang("open 26 MB", lambda s: pressed("ctrl+o", f" {s.path('large.txt')}", "Return")(s), ("mousepad_*", "libmousepad*+0x*", "mousepad+0x*"), ("mousepad_*", "libmousepad*+0x*", "mousepad+0x*"), good1=("g_*", "gtk_*", "gdk_*"), good2=("g_*", "gtk_*", "main", "gdk_*")),
     Hang("cut all", pressed("ctrl+a", "ctrl+x"), ("gtk_text_*", "mousepad_*", "libmousepad*+0x*", "libgtk*+0x*"), ("mousepad_*", "libmousepad*+0x*", "mousepad+0x*", "gtk_*"), good1=("g_*", "gtk_*", "gdk_*"), good2=("g_*", "gtk_*", "main", "gdk_*"),
          before=lambda s: pressed("ctrl+o", f" {s.path('large.txt')}", "Return")(s))),
    where="window", prepare=sources, ready=lambda s: s.window(), signal=9)

ROWS = [GEANY, FEATHERPAD, MOUSEPAD]
