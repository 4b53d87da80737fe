/*
 * child.h - converts, unpacks and checks in a sandboxed process of its own. Internal to symbolizer/.
 *
 *     this process                          child: options.converter symbol-child ...
 *     open files  --- 3: cache, 4..: files -->  limits of memory, time and file size; no new privileges; a filter that
 *                                               leaves only the system calls converting needs
 *     problem  <------------- 1 -------------   a line, and the exit status
 *
 * A file that makes the reader crash, loop or exhaust memory ends the child and not the server.
 *
 * Thread: any; a call blocks until the child ends, at most 5 minutes.
 */
#ifndef MIRE_SANDBOX_CHILD_H
#define MIRE_SANDBOX_CHILD_H

#include "cache/convert.h"

struct child_split { /* header before the bytes of each split file */
    uint64_t id;     /* as in struct convert_split */
    uint64_t contents_id;
    uint64_t package; /* 1: a package */
    uint64_t len;     /* bytes that follow; 0: unreadable */
};

struct child_files { /* open files of one module, most informative first */
    int fds[MIRE_CONVERT_OBJECTS];
    size_t count;
    int alt;                  /* dwz file; -1: none */
    uint64_t alt_contents_id; /* as in convert.h */
    int splits;               /* written by splits_gather; -1: none */
    bool asks;                /* as in convert.h */
};

enum child_answer {
    CHILD_DONE,
    CHILD_WRONG,   /* the file cannot be converted */
    CHILD_WANTS,   /* split files are wanted: rows of struct convert_want were written instead */
    CHILD_REFUSED, /* a system call failed; the file is not at fault */
};

/*
 * Convert files into `fd`.
 *
 *   converter  program to run, which passes "symbol-child" to symbols_child; NULL: convert in this process
 *   why        room for MIRE_SYMBOL_WHY bytes: the problem
 */
enum child_answer child_convert(char *why, int fd, const struct child_files *files, const uint8_t *id, size_t id_len,
                                const char *converter);

/*
 * Unpack the archive `in` into `out`, for contents_open. Returns as child_convert.
 */
enum child_answer child_unpack(char *why, int out, int in, const char *converter);

/*
 * Check (check.h) the `len` bytes of `in` at `at`. Returns as child_convert; CHILD_WRONG means damaged. `why` begins
 * with a digit, the file's enum symbol_depth, unless the child was killed.
 */
enum child_answer child_check(char *why, int in, uint64_t at, uint64_t len, const char *converter);

/*
 * Main function of the program options.converter, with the arguments after its name. Gives up all privileges, then
 * processes the open file descriptors that it was started with. Returns the exit status.
 */
int symbols_child(int argc, char **argv);

#endif
