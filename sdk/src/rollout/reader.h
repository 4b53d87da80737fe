/*
 * reader.h - reads JSON front to back, one value at a time, out of the caller's bytes. Private to rollout/.
 *
 *     mire__reader_init(&r, text, size);
 *     if (mire__reader_open(&r))                     {
 *         while (mire__reader_member(&r, name, sizeof(name)))   "name":
 *             ... one call that takes the value ...
 *                                                    }
 *     good = mire__reader_end(&r);
 *
 * A failure sticks: later calls answer false and 0, and mire__reader_end returns it. Nothing is allocated, and nothing
 * recurses deeper than MIRE_READER_DEPTH_MAX.
 */
#ifndef MIRE_ROLLOUT_READER_H
#define MIRE_ROLLOUT_READER_H

#include "base/base.h"

#define MIRE_READER_DEPTH_MAX 8

/* The fields are the reader's own. */
struct reader {
    const char *at, *end;
    uint32_t depth; /* of objects that mire__reader_open opened */
    bool failed;
    bool fresh; /* the innermost has had no member yet */
};

void mire__reader_init(struct reader *reader, const char *text, size_t size);

/* Go into an object. False, and a failure, if the value is none. */
bool mire__reader_open(struct reader *reader);

/* The next member's name, cut to `cap`; its value has to be taken next. False: the object is closed, or a failure. */
bool mire__reader_member(struct reader *reader, char *name, size_t cap);

/* The kind of the next value: '{', '[', '"', '0' for a number, 't', 'f', 'n'; 0 for a failure. */
char mire__reader_peek(struct reader *reader);

/* A whole number from 0 to UINT64_MAX; a larger one reads as that. A fraction or a minus is a failure. */
uint64_t mire__reader_number(struct reader *reader);

/* A text of ASCII, cut to `cap`; another character, escaped or not, reads as '?'. */
void mire__reader_text(struct reader *reader, char *out, size_t cap);

bool mire__reader_bool(struct reader *reader);

/* Pass over a value of any kind. */
void mire__reader_skip(struct reader *reader);

/* Nothing but white space is left, and nothing failed. */
bool mire__reader_end(struct reader *reader);

#endif
