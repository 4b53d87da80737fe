/*
 * mine.h - the library's own addresses, so that they are neither reported nor locked as the program's.
 *
 * Code that maps memory for the library adds it. The stacks of the library's threads belong to the list as well.
 * Signal-safe, any thread; a forked child keeps the list of its parent.
 */
#ifndef MIRE_PLATFORM_MINE_H
#define MIRE_PLATFORM_MINE_H

#include "base/base.h"

struct mine_span {
    uint64_t start, end;
};

#define MIRE_MINE_MAX 160u /* spans and threads; further ones count as the program's */

void mire__mine_add(const void *at, size_t bytes);
void mire__mine_remove(const void *at, size_t bytes);

/*
 * A thread of the library's is going to be made (before), or could not be; the calling thread is it, with so many bytes
 * of stack; and it ends.
 */
void mire__mine_thread_comes(void);
void mire__mine_thread_fails(void);
void mire__mine_thread_begin(size_t stack_bytes);
void mire__mine_thread_end(void);

/* Wait until all threads that were coming have begun, 100 ms at most: before that nobody knows their stacks. */
void mire__mine_settle(void);

/*
 * The library's parts of a mapping.
 *   out  spans by address, without overlaps
 * Returns their number.
 */
size_t mire__mine_within(struct mine_span out[MIRE_MINE_MAX], uint64_t start, uint64_t end);

/*
 * The program has had all memory that is mapped from now on locked (mlockall with MCL_FUTURE), or has no longer. What
 * the library maps then is not to be: mire__pages_map heeds it.
 */
void mire__mine_future_locked(bool locked);
bool mire__mine_is_future_locked(void);

#endif
