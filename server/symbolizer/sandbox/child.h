/*
 * child.h - converts, unpacks and checks in a process of its own, which can do nothing but that. Inside sandbox/ only.
 *
 *     this process                          child: options.converter symbol-child ...
 *     open files  --- 3: cache, 4..: files -->  limits of memory, time and file size; no new privileges; a filter that
 *                                               leaves only the system calls converting needs
 *     what was wrong  <------ 1 -------------   a line, and the exit status
 *
 * A file that makes the reader crash, spin or swell ends the child, not the server.
 */
#ifndef MIRE_SANDBOX_CHILD_H
#define MIRE_SANDBOX_CHILD_H

#include "cache/convert.h"

struct child_split { /* written before the bytes of each split file */
    uint64_t id;     /* as in struct convert_split */
    uint64_t contents_id;
    uint64_t package; /* 1 if it is one */
    uint64_t len;     /* of its bytes; 0: it is none that can be read */
};

struct child_files { /* open, of one module, what knows more first */
    int fds[MIRE_CONVERT_OBJECTS];
    size_t count;
    int alt;                  /* -1: none */
    uint64_t alt_contents_id; /* as in convert.h */
    int splits;               /* as splits_gather wrote them; -1: none */
    bool asks;                /* as in convert.h */
};

enum child_answer {
    CHILD_DONE,
    CHILD_WRONG,   /* the file cannot be converted */
    CHILD_WANTS,   /* split files: rows of struct convert_want were written instead */
    CHILD_REFUSED, /* the system refused: it is not the file's fault */
};

/*
 * Convert files into `fd`.
 *
 *   converter  program to run, which hands "symbol-child" to symbols_child; NULL: convert in this process
 *   why        room for MIRE_SYMBOL_WHY bytes: what was wrong
 */
enum child_answer child_convert(char *why, int fd, const struct child_files *files, const uint8_t *id, size_t id_len,
                                const char *converter);

/*
 * Unpack the archive `in` into `out`, as contents_open does. The same answers.
 */
enum child_answer child_unpack(char *why, int out, int in, const char *converter);

/*
 * Check (check.h) what lies in `in` from `at` on. The same answers; CHILD_WRONG: it is damaged. `why` begins with a
 * digit, the file's enum symbol_depth, unless the child was ended.
 */
enum child_answer child_check(char *why, int in, uint64_t at, uint64_t len, const char *converter);

/*
 * What options.converter runs, with the arguments behind its own name: converts the files it was given as open file
 * descriptors, after giving up every other right. Returns the exit status.
 */
int symbols_child(int argc, char **argv);

#endif
