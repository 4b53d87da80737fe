/*
 * backtrace.h - lines of stacks as Android's runtime, its debuggerd and xCrash print them. Inside decode/ only.
 *
 *     at pkg.Class.method(File.java:123)
 *     native: #05 pc 00000000010290b8  /path/lib.so (offset 0x1000) (function+116) (BuildId: 1122...)
 *           #05 pc ...                                                  the same without "native:"
 *
 * A pc is that of the call itself, because Android's unwinder has stepped back.
 */
#ifndef MIRE_DECODE_BACKTRACE_H
#define MIRE_DECODE_BACKTRACE_H

#include "decode/build.h"
#include "decode/lines.h"

#define MIRE_BACKTRACE_MAX 1024 /* frames of one stack; the runtime itself prints 256 native ones and 1024 of Java */

/* Modules by path, place in it, and build id. */
struct backtrace_modules {
    struct build *build;
    struct build_list rows;
    size_t last; /* the last module found; most frames are of the same one as the frame before */
};

/* Facts about a module, before its frames. */
struct backtrace_module {
    const char *path; /* build_text's */
    uint64_t offset;  /* where in the file it begins: a library inside an APK */
    uint8_t id[MIRE_BUILD_ID_MAX];
    uint8_t id_len;
};

/* The number of its image; -1: none, for code made at run time or beyond the limit. */
int32_t backtrace_image(struct backtrace_modules *modules, const struct backtrace_module *module);

/* Read a line that is a frame; UINT32_MAX in *out if it could not be kept. The line has no leading blanks. */
bool backtrace_java(uint32_t *frame_out, struct build *build, struct line_span line);
bool backtrace_native(uint32_t *frame_out, struct backtrace_modules *modules, struct line_span line);

/* Bytes of a build id from its digits; 0 if these are none, or too many. */
uint8_t backtrace_build_id(uint8_t out[MIRE_BUILD_ID_MAX], const char *digits, size_t len);

#endif
