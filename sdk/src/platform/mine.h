/*
 * mine.h - which addresses of the process are the library's own, so that they are not told, or locked, as the
 * program's.
 *
 * Whoever maps something for the library adds it. Of a thread of the library's the stack is its own too. Signal-safe,
 * any thread; a forked child keeps the list of its parent.
 */
#ifndef MIRE_PLATFORM_MINE_H
#define MIRE_PLATFORM_MINE_H

#include "base/base.h"

struct mine_span {
    uint64_t start, end;
};

#define MIRE_MINE_MAX 160u /* spans and threads at a time; what is added beyond them counts as the program's */

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
 * What of a mapping is the library's.
 *   out  spans in the order of their addresses, which do not overlap
 * Returns how many.
 */
size_t mire__mine_within(struct mine_span out[MIRE_MINE_MAX], uint64_t start, uint64_t end);

/*
 * The program has had all memory that is mapped from now on locked (mlockall with MCL_FUTURE), or has no longer. What
 * the library maps then is not to be: mire__pages_map heeds it.
 */
void mire__mine_future_locked(bool locked);
bool mire__mine_is_future_locked(void);

#endif
