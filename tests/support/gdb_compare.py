"""Run by gdb, attached to a program: stop it again and again, and compare gdb's stack with the SDK's unwinder's.

MIRE_PROBE is tests/support/unwind_probe, MIRE_ROUNDS how often; MIRE_STEPS single instructions follow each stop, through
the beginnings and ends of functions. One line a comparison:
    round N same|asleep-same DEPTH
    round N differs ... with both stacks after it
"""
import os
import random
import subprocess

import gdb

PROBE = os.environ["MIRE_PROBE"]
ROUNDS = int(os.environ["MIRE_ROUNDS"])
STEPS = int(os.environ["MIRE_STEPS"])
DEPTH_MAX = 128
CUT = 1
SIGNAL = 3
X86_64 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"]
SP = 7


def gdb_stack():
    """(address, is it the kernel's signal frame) of each real frame: what was inlined, or jumped to, has none."""
    frames, frame = [], gdb.newest_frame()
    while frame and len(frames) < DEPTH_MAX:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append((frame.pc(), frame.type() == gdb.SIGTRAMP_FRAME))
        frame = frame.older()
    while frames and frames[-1][0] == 0:
        frames.pop()
    return frames


def registers():
    frame = gdb.newest_frame()
    return frame.pc(), [int(frame.read_register(name)) & (1 << 64) - 1 for name in X86_64]


def our_stack(pid, pc, known, values):
    command = [PROBE, str(pid)] + ["%x" % number for number in [pc, known] + values]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.split("\n")
    flags = int(lines[-2].split()[1])
    return [(int(pc, 16), int(found)) for pc, found in map(str.split, lines[:-2])], flags


def same(theirs, ours, flags):
    if len(theirs) != len(ours) or flags & ~CUT:
        return False
    for i, ((pc, is_trampoline), (place, found)) in enumerate(zip(theirs, ours)):
        exact = i == 0 or found == SIGNAL or is_trampoline
        if place + (0 if exact else 1) != pc:
            return False
    return True


def asleep(pid):
    """The stack pointer, if the thread sleeps in a system call, and the kernel's word for where."""
    with open(f"/proc/{pid}/syscall") as file:
        fields = file.read().split()
    return len(fields) == 9 and int(fields[0]) >= 0


def may_sleep(pid):
    """Would the next instruction wait in the kernel?"""
    pc = gdb.newest_frame().pc()
    return asleep(pid) or bytes(gdb.selected_inferior().read_memory(pc, 2)) == b"\x0f\x05"


def compare(round_number, pid):
    pc, values = registers()
    theirs = gdb_stack()
    ways = [("same", (1 << len(X86_64)) - 1)]
    if asleep(pid):
        ways.append(("asleep-same", 1 << SP))
    for word, known in ways:
        ours, flags = our_stack(pid, pc, known, values)
        if same(theirs, ours, flags):
            print(f"round {round_number} {word} {len(theirs)}")
            continue
        print(f"round {round_number} differs: {word} flags {flags}")
        for i in range(max(len(theirs), len(ours))):
            left = "%x%s" % (theirs[i][0], " trampoline" if theirs[i][1] else "") if i < len(theirs) else "-"
            right = "%x found %d" % ours[i] if i < len(ours) else "-"
            name = gdb.execute(f"info symbol 0x{theirs[i][0]:x}", to_string=True).strip() if i < len(theirs) else ""
            print(f"    {i} gdb {left} mire {right}   {name}")


def stop_after(pid, seconds):
    """From another process: gdb runs no other thread of ours while the program goes on."""
    return subprocess.Popen(["sh", "-c", f"sleep {seconds:.4f}; kill -STOP {pid}"])


def main():
    for setting in ["pagination off", "backtrace past-main on", "backtrace past-entry on", "confirm off"]:
        gdb.execute("set " + setting)
    gdb.execute("handle SIGSTOP stop print nopass", to_string=True)
    gdb.execute("handle SIGSEGV nostop pass noprint", to_string=True)
    gdb.execute("handle SIGALRM nostop pass noprint", to_string=True)
    gdb.execute("handle SIGUSR2 nostop pass noprint", to_string=True)
    pid = gdb.selected_inferior().pid
    random.seed(pid)
    for round_number in range(ROUNDS):
        compare(round_number, pid)
        for _ in range(STEPS):
            if may_sleep(pid):
                break
            gdb.execute("stepi", to_string=True)
            compare(round_number, pid)
        stopper = stop_after(pid, random.uniform(0.002, 0.03))
        gdb.execute("continue", to_string=True)
        stopper.wait()
        gdb.execute("thread 1", to_string=True)
    gdb.execute("detach", to_string=True)


main()
