/*
 * layout.h - byte offsets in CPython's structures, by minor version. Private to script/.
 *
 * Taken from the headers of 3.11.2, 3.11.7, 3.12.1 and 3.13.0 by offsetof. Every value that is read is checked: a
 * patched interpreter whose layout differs has no frames of scripts, and no wrong ones.
 */
#ifndef MIRE_SCRIPT_LAYOUT_H
#define MIRE_SCRIPT_LAYOUT_H

#include "base/base.h"

/* Words that identify a code object: its type, first line, and the four objects below. */
#define MIRE_SCRIPT_CODE_WORDS 6

struct script_layout {
    uint16_t minor; /* of the version: 3.minor */
    /* _PyRuntimeState, PyInterpreterState, PyThreadState */
    uint16_t interpreters, interpreter_next, threads;
    uint16_t thread_next, thread_interpreter, thread_number, thread_frame;
    /* _PyCFrame, on the C stack of each evaluation; 3.13 has none: thread_frame is the innermost frame itself */
    bool has_cframe;
    uint16_t cframe_frame, cframe_previous;
    /* _PyInterpreterFrame */
    uint16_t frame_code, frame_previous, frame_at, frame_owner;
    uint16_t frame_entry; /* a flag: outermost of its evaluation; 0: a frame on the C stack ends it (owner 3) */
    /* PyCodeObject */
    uint16_t code_first_line, code_file, code_name, code_lines, code_begin;
    /* str: where the characters are, of ASCII and of others */
    uint16_t text_ascii, text_other;
};

#define MIRE_SCRIPT_FRAME_BYTES 72 /* of a frame: enough for every layout */

/* The layout of a version, as Py_Version has it; NULL: it is not known. */
const struct script_layout *mire__script_layout(uint64_t py_version);

#endif
