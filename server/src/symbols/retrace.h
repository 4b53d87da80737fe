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
 * R8's remarks ("# {...}") are followed: the file of a class, methods it made itself (synthesized), and outlines: code
 * moved out of several places, whose frame is dropped and whose line tells the place in the frame around it.
 *
 * A mapping is untrusted text: what makes no sense in it is passed over. Thread: any number, it is only read.
 */
#ifndef MIRE_SYMBOLS_RETRACE_H
#define MIRE_SYMBOLS_RETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_RETRACE_CHAIN 64  /* frames of one */
#define MIRE_RETRACE_TEXT  256 /* room for a file's name, with NUL */

struct object;
struct retrace;

struct retrace_frame { /* texts are the mapping's, but for file */
    const char *class_name;
    size_t class_len;
    const char *method;
    size_t method_len;
    char file[MIRE_RETRACE_TEXT]; /* as R8 tells it, else made of the class's name; "" for a methodmap */
    uint32_t line;                /* 0: unknown */
    bool inlined;                 /* into the next one */
    bool ambiguous;               /* without a line: one of several methods that have this name now */
};

/* What an outline left for the frame around it. All zero at the innermost frame of a stack. */
struct retrace_carry {
    uint32_t position; /* 0: nothing */
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
#define MIRE_RETRACE_FLAW "is damaged: its pg_map_hash is of something else"
bool retrace_is_whole(const struct retrace *retrace);

/*
 * One frame of a stack.
 *
 *   out         room for MIRE_RETRACE_CHAIN, innermost first
 *   carry       from frame to frame, innermost first; NULL: the frame stands alone
 *   class_name, method   as in the frame
 *   line        0: unknown; then of methods that share a name each is told once, as ambiguous
 *
 * Returns how many; 0: the mapping does not have it, or it is an outline (then carry->position is not 0).
 */
size_t retrace_frame(struct retrace_frame *out, struct retrace_carry *carry, const struct retrace *retrace,
                     const char *class_name, const char *method, uint32_t line);

/* The method of a number of Matrix's. False: there is none. */
bool retrace_method(struct retrace_frame *out, const struct retrace *retrace, uint64_t number);

#endif
