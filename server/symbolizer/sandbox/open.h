/*
 * open.h - files of strangers: what they hold, and whether they can be read whole, found out by the child.
 *
 * Thread: any; a check waits for others.
 */
#ifndef MIRE_SANDBOX_OPEN_H
#define MIRE_SANDBOX_OPEN_H

#include "archive/contents.h"
#include "object/kinds.h"

enum contents_answer {
    CONTENTS_GOOD,   /* one item or more */
    CONTENTS_WRONG,  /* the file holds nothing that could be kept: `why` says what is wrong with it */
    CONTENTS_FAILED, /* the system refused */
};

/*
 * See what an open file holds.
 *
 *   out        closed by contents_close, whatever is returned
 *   why        room for MIRE_SYMBOL_WHY bytes
 *   fd         of a plain file, at any place; borrowed until contents_close
 *   dir        archives are unpacked into a file without a name there; NULL: into memory
 *   converter  as in symbols_options: the program that unpacks; NULL: this process does
 */
enum contents_answer contents_open(struct contents *out, char *why, int fd, const char *dir, const char *converter);

/*
 * Can an item be read whole? A second for 400 MB, in the child; one at a time among all who have the same `dir`, so
 * that memory is bounded.
 *
 *   why        room for MIRE_SYMBOL_WHY bytes: what is damaged, and where
 *   depth_out  what the file tells of the code
 *
 * Returns CONTENTS_GOOD, CONTENTS_WRONG: it is damaged, or CONTENTS_FAILED.
 */
enum contents_answer contents_check(char *why, enum symbol_depth *depth_out, const struct contents *contents,
                                    const struct contents_item *item, const char *dir, const char *converter);

#endif
