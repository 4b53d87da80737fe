/*
 * open.h - lists the contents of untrusted files and checks them, by means of the child.
 *
 * Thread: any; a check waits for other checks.
 */
#ifndef MIRE_SANDBOX_OPEN_H
#define MIRE_SANDBOX_OPEN_H

#include "archive/contents.h"
#include "object/kinds.h"

enum contents_answer {
    CONTENTS_GOOD,   /* one item or more */
    CONTENTS_WRONG,  /* the file has nothing to keep; `why` is the problem */
    CONTENTS_FAILED, /* a system call failed */
};

/*
 * List the contents of an open file.
 *
 *   out        closed by contents_close after any result
 *   why        room for MIRE_SYMBOL_WHY bytes
 *   fd         a plain file at any offset; borrowed until contents_close
 *   dir        directory for the unnamed file that an archive is unpacked to; NULL: memory
 *   converter  as in symbols_options: program that unpacks; NULL: this process
 */
enum contents_answer contents_open(struct contents *out, char *why, int fd, const char *dir, const char *converter);

/*
 * Check whether an item can be read completely: about a second for 400 MB, in the child. One check at a time runs among
 * all callers with the same `dir`, so that memory is bounded.
 *
 *   why        room for MIRE_SYMBOL_WHY bytes: the damage and its position
 *   depth_out  depth of the file
 *
 * Returns CONTENTS_GOOD, CONTENTS_WRONG if the item is damaged, or CONTENTS_FAILED.
 */
enum contents_answer contents_check(char *why, enum symbol_depth *depth_out, const struct contents *contents,
                                    const struct contents_item *item, const char *dir, const char *converter);

#endif
