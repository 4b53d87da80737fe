#!/usr/bin/env python3
"""symbol_samples.py - do other people's symbol files agree with each other, as Mire reads them?

  lines     at every line record of a Breakpad file, and at every PUBLIC of one without lines, the debug file beside it says
            the same file, line and function; the Breakpad file itself too
  crashes   the frames of each iOS crash report that lie in the two dSYMs have names, and the top one is where it was planted

What differs has to be one of the exceptions below; how often each was met is printed. The files are not Mire's: without
../shared/data nothing is tested.
"""
import collections
import glob
import json
import os
import posixpath
import re
import subprocess
import sys

DATA = os.path.join(os.environ["MIRE_SOURCE_DIR"], "../shared/data/symbols")
MIRE = os.path.join(os.environ["MIRE_BINARY_DIR"], "server/mire")
DSYM = "Contents/Resources/DWARF/"
EXECUTABLE_BASE = 0x100000000  # where a 64 bit program of Apple's is linked; a library is at 0

FIXED_BASE = 0x400000  # and a Linux program that is not position-independent; Breakpad counts from there

EXCEPTIONS = {
    "name omitted": "the Breakpad file has no name (<name omitted>), the debug file has",
    "return type": "the mangled name of a template's instance tells what it returns, Breakpad's writer left that away",
    "part of a function": "the symbol is one that the compiler cut off a function, [clone .part.3]; the DWARF names the function",
    "three &": "the writer's demangler wrote a reference to a reference as &&&",
    "C linkage": "extern \"C\" in a namespace: the linker's name has no namespace",
    "no line": "an assembler function: the dSYM has its symbol and no line",
    "no frames": "the program overwrote its stack, and pc, lr and fp with it; the report has no memory of it either",
    "link register": "a jump to nowhere: the report has no stack, but the link register says where from",
}

# What each crash planted: the function whose frame is the app's innermost.
PLANTED = {
    "Access a non-object as an object": "-[CRLCrashNSLog crash]",
    "Call __builtin_trap()": "-[CRLCrashTrap crash]",
    "Call abort()": "-[CRLCrashAbort crash]",
    "Corrupt malloc()'s internal tracking information": "-[CRLCrashCorruptMalloc crash]",
    "Corrupt the Objective-C runtime's structures": "-[CRLCrashCorruptObjC crash]",
    "Crash inside objc_msgSend()": "-[CRLCrashObjCMsgSend crash]",
    "Crash with _pthread_list_lock held": "-[CRLCrashAsyncSafeThread crash]",
    "DWARF Unwinding": "CRLFramelessDWARF_test_crash",
    "Dereference a NULL pointer": "-[CRLCrashNULL crash]",
    "Dereference a bad pointer": "-[CRLCrashGarbage crash]",
    "Execute a privileged instruction": "-[CRLCrashPrivInst crash]",
    "Execute an undefined instruction": "-[CRLCrashUndefInst crash]",
    "Jump into an NX page": "-[CRLCrashNXPage crash]",
    "Message a released object": "block in -[CRLCrashReleasedObject crash]",
    "Overwrite link register, then crash": "-[CRLCrashOverwriteLinkRegister crash]",
    "Smash the bottom of the stack": None,
    "Smash the top of the stack": None,
    "Stack overflow": "-[CRLCrashStackGuard crash]",
    "Swift": "CRLCrashSwift.crash()",
    "Throw Objective-C exception": "-[CRLCrashObjCException crash]",
    "Write to a read-only page": "-[CRLCrashROPage crash]",
}

met = collections.Counter()
wrong = []


def look(path, addresses):
    """The chain of each address, innermost first: (function, file, line)."""
    done = subprocess.run([MIRE, "symbols", "look", path], input="".join(f"{a:x}\n" for a in addresses), text=True,
                          capture_output=True, check=True)
    chains = []
    for block in done.stdout.split("\n\n")[:-1]:
        lines = block.strip("\n").split("\n")
        places = [place.rpartition(":") for place in lines[1::2]]
        chains.append([(name, file, int(line)) for name, (file, _, line) in zip(lines[::2], places)])
    assert len(chains) == len(addresses), path
    return chains


def read_breakpad(path):
    """Line records as (address, file, line, function), symbols as (address, name)."""
    files, lines, symbols, function = {}, [], [], None
    with open(path, encoding="utf-8") as file:
        for text in file:
            text = text.rstrip("\n")
            words = text.split(" ")
            if words[0] == "FILE":
                files[words[1]] = text.split(" ", 2)[2]
            elif words[0] == "FUNC":
                function = text.split(" ", 5 if words[1] == "m" else 4)[-1]
            elif words[0] == "PUBLIC":
                symbols.append((int(words[2 if words[1] == "m" else 1], 16), text.split(" ", 4 if words[1] == "m" else 3)[-1]))
            elif re.fullmatch("[0-9a-f]+", words[0]) and len(words) == 4:
                lines.append((int(words[0], 16), files[words[3]], int(words[2]), function))
    return lines, symbols


def same_name(told, ours, path):
    if told == ours:
        return
    if told == "<name omitted>":
        met["name omitted"] += 1
    elif ours.endswith(" " + told):
        met["return type"] += 1
    elif re.sub(r"( \[clone [^]]*\])+$", "", told) == ours:
        met["part of a function"] += 1
    elif told.replace("&&&", "&") == ours:
        met["three &"] += 1
    elif told.endswith("::" + ours):
        met["C linkage"] += 1
    else:
        wrong.append(f"{path}: {told} is {ours}")


def check_lines(breakpad, debug, base):
    lines, symbols = read_breakpad(breakpad)
    for path, bias in ((debug, base), (breakpad, 0)):
        for (address, file, line, function), chain in zip(lines, look(path, [row[0] + bias for row in lines])):
            _, our_file, our_line = chain[0]
            same_name(function, chain[-1][0], path)
            if posixpath.normpath(our_file) != posixpath.normpath(file) or our_line != line:
                wrong.append(f"{path}: {address:x} is {our_file}:{our_line}, not {file}:{line}")
        if not lines:
            for (address, name), chain in zip(symbols, look(path, [row[0] + bias for row in symbols])):
                same_name(name, chain[-1][0], f"{path}: {address:x}")
    print(f"{os.path.relpath(breakpad, DATA)}: {len(lines)} lines, {len(symbols)} symbols")


def is_caller(number, address, registers, signal):
    """Is that frame's address one that a call returns to? Frame 0 is the instruction that crashed, unless its reporter left that out: a fault
    that is elsewhere than the program counter says leaves the frames of whoever called."""
    at = next((int(registers[name], 16) for name in ("pc", "rip", "eip") if name in registers), address)
    return number > 0 or (at != address and signal in ("SIGILL", "SIGBUS", "SIGSEGV"))


def check_callers():
    there = {"pc": "0x1004"}
    for answer, *asked in ((False, 0, 0x1004, there, "SIGSEGV"), (True, 0, 0x2004, there, "SIGSEGV"), (True, 0, 0x2004, {"pc": "0x0"}, "SIGBUS"),
                           (True, 0, 0x2004, {"rip": "0x1004"}, "SIGILL"), (False, 0, 0x2004, there, "SIGABRT"),
                           (False, 0, 0x2004, {}, "SIGSEGV"), (True, 1, 0x1004, there, "SIGABRT")):
        if is_caller(*asked) != answer:
            wrong.append(f"{asked}: {'no' if answer else 'a'} caller")


def check_crash(path, objects):
    name = os.path.basename(path).removesuffix(".json")
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    exception = report["exception"]["values"][0]
    stack = exception["stacktrace"]
    signal = exception.get("mechanism", {}).get("posix_signal", {}).get("name", "")
    frames = stack["frames"][::-1]
    images = [(int(i["image_addr"], 16), i["image_size"], i["uuid"]) for i in report["debug_meta"]["images"]]
    top = None
    link = int(stack.get("registers", {}).get("lr", "0"), 16)
    if not frames and any(load <= link < load + size for load, size, _ in images):
        met["link register"] += 1
        frames = [{"instruction_addr": stack["registers"]["pc"]}, {"instruction_addr": stack["registers"]["lr"]}]
    elif not frames:
        met["no frames"] += 1
    for number, frame in enumerate(frames):
        address = int(frame["instruction_addr"], 16)
        home = [(load, uuid) for load, size, uuid in images if load <= address < load + size and uuid in objects]
        if not home:
            continue
        load, uuid = home[0]
        bias, binary = objects[uuid]
        caller = is_caller(number, address, stack.get("registers", {}), signal)
        function, file, line = look(binary, [address - load + bias - (1 if caller else 0)])[0][0]
        top = top or function
        if function == "??":
            wrong.append(f"{name}: frame {number} has no name")
        elif not line:
            met["no line"] += 1
    if top != PLANTED[name]:
        wrong.append(f"{name}: the top frame is {top}, not {PLANTED[name]}")


def main():
    check_callers()
    if not os.path.isdir(DATA):
        print(f"SKIP: {DATA} is not there")
        return 1 if wrong else 0
    macho = f"{DATA}/macho/crash.dSYM/{DSYM}crash"
    check_lines(f"{DATA}/elf/crash.sym", f"{DATA}/elf/crash.debug", FIXED_BASE)
    check_lines(f"{DATA}/elf/crash.sym", f"{DATA}/elf/crash.debug-zstd", FIXED_BASE)
    check_lines(f"{DATA}/macho/crash.sym", macho, EXECUTABLE_BASE)
    check_lines(f"{DATA}/breakpad/crash.inlines.sym", macho, EXECUTABLE_BASE)
    dsyms = f"{DATA}/ios-crashprobe/dSYMs"
    objects = {
        "5DB9DD67-7626-3675-8C6A-606E8C7518F7": (0, f"{dsyms}/arm64-CrashLibiOS.framework.dSYM/{DSYM}CrashLibiOS"),
        "B8FDD34A-7F2F-3268-925B-9541332F84A2": (EXECUTABLE_BASE, f"{dsyms}/arm64-CrashProbeiOS.app.dSYM/{DSYM}CrashProbeiOS"),
    }
    reports = sorted(glob.glob(f"{DATA}/ios-crashprobe/reports/*.json"))
    assert len(reports) == len(PLANTED)
    for path in reports:
        check_crash(path, objects)
    print(f"crash reports: {len(reports)}")
    for kind, why in EXCEPTIONS.items():
        print(f"  {met[kind]:6} {kind}: {why}")
    for line in sorted(set(wrong))[:20]:
        print("WRONG", line)
    return 1 if wrong else 0


sys.exit(main())
