"""Run by gdb: the stacks at a program's allocations, as gdb finds them, printed one a line:

    size N pc[*] pc[*] ...     innermost caller first; * where the address is not that behind a call

MIRE_PROGRAM is tests/support/heap_places, MIRE_PRELOAD the preload library, MIRE_STORE where it keeps its tables; those of
the program, which is killed at the end, are left there.
"""
import os

import gdb

FIRST, LAST = 1000003, 1000999
SIZE_IN = {"malloc": "rdi", "calloc": "rsi", "realloc": "rsi", "aligned_alloc": "rsi"}
DEPTH_MAX = 128
HOOK = "mire__heap_" # in the library: what stands in for malloc is at its name as well


def is_code(pc):
    return pc != 0 and not gdb.execute(f"info symbol 0x{pc:x}", to_string=True).startswith("No symbol")


def stack():
    frames, frame = [], gdb.newest_frame()
    while frame.type() == gdb.INLINE_FRAME: # a hook may begin with what is inlined into it
        frame = frame.older()
    frame = frame.older()
    while frame and len(frames) < DEPTH_MAX:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append((frame.pc(), frame.type() == gdb.SIGTRAMP_FRAME))
        frame = frame.older()
    while frames and not is_code(frames[-1][0]): # what gdb makes of a stack that begins in nothing
        frames.pop()
    exact = [trampoline or (i > 0 and frames[i - 1][1]) for i, (_, trampoline) in enumerate(frames)]
    return ["%x%s" % (pc, "*" if star else "") for (pc, _), star in zip(frames, exact)]


def address(library, name):
    return int((library.lookup_global_symbol(name) or library.lookup_static_symbol(name)).value().address)


def main():
    for setting in ["pagination off", "backtrace past-main on", "backtrace past-entry on", "confirm off",
                    "breakpoint pending on", "print thread-events off", "environment LD_PRELOAD " + os.environ["MIRE_PRELOAD"],
                    "environment MIRE_APP heap", "environment MIRE_APP_VERSION 1", "environment MIRE_MEMORY exact",
                    # a stop of gdb is no hang: the signal of a sample makes gdb leave its breakpoints out
                    "environment MIRE_THRESHOLD_MS 60000",
                    # as mire-run gives it, for Mire to watch from the first instruction on
                    """exec-wrapper sh -c 'MIRE_FIRST=$$ exec "$0" "$@"'"""]:
        gdb.execute("set " + setting)
    for name in ("SIGUSR2", "SIGURG", "SIGALRM"):
        gdb.execute(f"handle {name} nostop pass noprint", to_string=True)
    gdb.execute("file " + os.environ["MIRE_PROGRAM"], to_string=True)
    gdb.execute("break main", to_string=True)
    gdb.execute("run", to_string=True)
    library = next(one for one in gdb.objfiles() if "mire-preload" in one.filename)
    hooks = {address(library, HOOK + name): name for name in SIZE_IN}
    for at, name in hooks.items():
        register = SIZE_IN[name]
        gdb.execute(f"break *{at} if ${register} >= {FIRST} && ${register} <= {LAST}", to_string=True)
    end = address(library, "pause")
    gdb.execute(f"break *{end}", to_string=True)
    while True:
        gdb.execute("continue", to_string=True)
        if gdb.newest_frame().pc() == end:
            break
        size = int(gdb.newest_frame().read_register(SIZE_IN[hooks[gdb.newest_frame().pc()]]))
        print("size", size, *stack())
    gdb.execute("kill", to_string=True)


main()
