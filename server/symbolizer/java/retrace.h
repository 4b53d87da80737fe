/*
 * retrace.h - Java frames with short names -> those of the source, by a mapping of ProGuard or R8, or Matrix's
 * methodmap.
 *
 *     a.b.c(SourceFile:6) --> retrace --> inlined call, innermost first; the method itself
 *
 *     1:3:void <init>():31:33 -> <init>          lines 1..3 of a method are 31..33 of the source
 *     4:4:int x.Y.get():9:9 -> a                 rows with the same lines, one after the other, are a chain:
 *     4:4:void run():40:40 -> a                  get was inlined into run at line 40
 *
 * The rules are those of R8's own retrace tool, R8's remarks ("# {...}") included:
 *
 *     sourceFile        the file of a class, also where its methods were inlined into other classes
 *     synthesized       a method the compiler made: its frame is left out, inlined calls in it stay
 *     outline           code moved out of several methods: its frame is left out, and its line tells the line of the
 *                       frame around it (outlineCallsite)
 *     rewriteFrame      calls the compiler inserted, such as a null check, are left out below the exception they throw
 *
 * Format: https://r8.googlesource.com/r8/+/refs/heads/main/doc/retrace.md. A mapping is untrusted text: rows that make
 * no sense are skipped. Thread: any number, a mapping is only read.
 */
#ifndef MIRE_JAVA_RETRACE_H
#define MIRE_JAVA_RETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_RETRACE_CHAIN 64  /* frames of one, all choices together */
#define MIRE_RETRACE_TEXT  256 /* room for a file's name, with NUL */

struct object;
struct retrace;

struct retrace_query { /* one frame as the program knows it; texts are borrowed */
    const char *class_name, *method;
    const char *file; /* "" if unknown; its ending tells Kotlin from Java where the mapping names no file */
    uint32_t line;    /* 0: unknown */
};

struct retrace_frame { /* texts are the mapping's or the query's, but for file */
    const char *class_name;
    size_t class_len;
    const char *method;
    size_t method_len;
    char file[MIRE_RETRACE_TEXT]; /* "" for a methodmap */
    uint32_t line;                /* 0: unknown */
    uint16_t choice;              /* where the frame may be one of several: which, from 0 */
    bool inlined;                 /* into the next frame of its choice */
    bool ambiguous;               /* there are several choices */
};

struct retrace_answer {
    struct retrace_frame frames[MIRE_RETRACE_CHAIN]; /* choice by choice, each innermost first */
    size_t count;
    bool left_out; /* count is 0 since the compiler made the frame, or moved its code; else the mapping lacks the class
                    */
};

/* What a frame leaves for the frame around it. All zero at the innermost frame of a stack without exception. */
struct retrace_carry {
    uint32_t position; /* in an outline; 0: none */
    const char
        *thrown; /* class of the exception thrown in the next frame, as the program knows it, borrowed; or NULL */
    size_t thrown_len;
};

/*
 * Read a mapping.
 *
 *   object  of format MIRE_FORMAT_MAPPING or MIRE_FORMAT_METHODMAP, borrowed until retrace_close
 *
 * Returns NULL, or what is wrong (static).
 */
const char *retrace_open(struct retrace **out, const struct object *object);
void retrace_close(struct retrace *retrace);

/* Write it as a file that retrace_map opens. False: the system refuses. */
bool retrace_write(int fd, const struct retrace *retrace);

/*
 * Open such a file, which may be closed afterwards; *out is closed by retrace_close.
 *
 *   whole  also compare the checksum of everything: for a file that has just come
 *
 * Returns NULL, or what is wrong with it (static).
 */
const char *retrace_map(struct retrace **out, int fd, bool whole);

/* Is it a methodmap, which knows numbers rather than names? */
bool retrace_is_methods(const struct retrace *retrace);

/* Is it as R8 wrote it? True of one that tells no hash of itself. Of one that is not, what to say. */
#define MIRE_RETRACE_DEFECT "is damaged: its pg_map_hash is of something else"
bool retrace_is_whole(const struct retrace *retrace);

/*
 * One frame of a stack.
 *
 *   carry  from frame to frame, innermost first; NULL: the frame stands alone
 *
 * A frame of a class that the mapping has and of a method that it lacks keeps its method and line.
 */
void retrace_frame(struct retrace_answer *out, struct retrace_carry *carry, const struct retrace *retrace,
                   const struct retrace_query *query);

/* The class's name in the source, borrowed from the mapping; NULL: the mapping lacks it. *len_out is its length. */
const char *retrace_class_name(size_t *len_out, const struct retrace *retrace, const char *name, size_t len);

/* The method of a number of Matrix's. False: there is none. */
bool retrace_method(struct retrace_frame *out, const struct retrace *retrace, uint64_t number);

#endif
