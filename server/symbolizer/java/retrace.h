/*
 * retrace.h - Java frames with short names -> frames with source names, by a mapping of ProGuard or R8, or by Matrix's
 * methodmap.
 *
 *     a.b.c(SourceFile:6) --> retrace --> inlined call, innermost first; the method itself
 *
 *     1:3:void <init>():31:33 -> <init>          lines 1..3 of a method are 31..33 of the source
 *     4:4:int x.Y.get():9:9 -> a                 rows with the same lines, one after the other, are a chain:
 *     4:4:void run():40:40 -> a                  get was inlined into run at line 40
 *
 * The rules are those of R8's own retrace tool, including R8's remarks ("# {...}"):
 *
 *     sourceFile        the file of a class, also where its methods were inlined into other classes
 *     synthesized       a method that the compiler made: its frame is left out, inlined calls in it stay
 *     outline           code moved out of several methods: its frame is left out, and its line selects the line of the
 *                       frame around it (outlineCallsite)
 *     rewriteFrame      calls that the compiler inserted, such as a null check, are left out below the exception that
 *                       they throw
 *
 * Format: https://r8.googlesource.com/r8/+/refs/heads/main/doc/retrace.md. A mapping is untrusted text: invalid rows
 * are skipped. Thread: any number; a mapping is read-only.
 */
#ifndef MIRE_JAVA_RETRACE_H
#define MIRE_JAVA_RETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_RETRACE_CHAIN 64  /* limit of the frames of one query, all choices together */
#define MIRE_RETRACE_TEXT  256 /* room for a file name, with NUL */

struct object;
struct retrace;

struct retrace_query { /* a frame of the program; texts are borrowed */
    const char *class_name, *method;
    const char *file; /* "": unknown; the ending separates Kotlin from Java if the mapping has no file */
    uint32_t line;    /* 0: unknown */
};

struct retrace_frame { /* texts except file are borrowed from the mapping or the query */
    const char *class_name;
    size_t class_len;
    const char *method;
    size_t method_len;
    char file[MIRE_RETRACE_TEXT]; /* "" for a methodmap */
    uint32_t line;                /* 0: unknown */
    uint16_t choice;              /* number of the choice, from 0, if there are several */
    bool inlined;                 /* into the next frame of the same choice */
    bool ambiguous;               /* there are several choices */
};

struct retrace_answer {
    struct retrace_frame frames[MIRE_RETRACE_CHAIN]; /* choice by choice, each innermost first */
    size_t count;
    bool left_out; /* with count 0: frame made or moved by the compiler; false: class not in the mapping */
};

/* State from one frame to the outer one. Zero at the innermost frame of a stack without exception. */
struct retrace_carry {
    uint32_t position;  /* position in an outline; 0: none */
    const char *thrown; /* obfuscated class of the exception thrown in the next frame; borrowed, or NULL */
    size_t thrown_len;
};

/*
 * Read a mapping.
 *
 *   object  of format MIRE_FORMAT_MAPPING or MIRE_FORMAT_METHODMAP, borrowed until retrace_close
 *
 * Returns NULL, or the problem (static).
 */
const char *retrace_open(struct retrace **out, const struct object *object);
void retrace_close(struct retrace *retrace);

/* Write the mapping as a file for retrace_map. Returns false if a system call fails. */
bool retrace_write(int fd, const struct retrace *retrace);

/*
 * Open a file of retrace_write. The caller may close `fd` afterwards, and closes *out with retrace_close.
 *
 *   whole  true: also verify the checksum of the whole file, for a file that was just written
 *
 * Returns NULL, or the problem (static).
 */
const char *retrace_map(struct retrace **out, int fd, bool whole);

/* Returns true for a methodmap, whose key is a number instead of a name. */
bool retrace_is_methods(const struct retrace *retrace);

/* Returns true if the mapping matches the hash that R8 wrote into it, or has no hash. The macro is the text for a
 * mapping that does not match. */
#define MIRE_RETRACE_DEFECT "is damaged: its pg_map_hash is of something else"
bool retrace_is_whole(const struct retrace *retrace);

/*
 * Retrace one frame of a stack.
 *
 *   carry  passed from frame to frame, innermost first; NULL: a frame without a stack
 *
 * If the mapping has the class and lacks the method, the frame keeps its method and line.
 */
void retrace_frame(struct retrace_answer *out, struct retrace_carry *carry, const struct retrace *retrace,
                   const struct retrace_query *query);

/* The source name of a class, borrowed from the mapping, with its length in *len_out; NULL: not in the mapping. */
const char *retrace_class_name(size_t *len_out, const struct retrace *retrace, const char *name, size_t len);

/* Get the method with a number in a methodmap. Returns false if there is none. */
bool retrace_method(struct retrace_frame *out, const struct retrace *retrace, uint64_t number);

#endif
