/*
 * mine.h - the library's own addresses, which are neither reported nor locked as the program's.
 *
 * Code that maps memory for the library adds the span to the list, which also has the stacks of the library's threads.
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
 * Called before a thread of the library is created; if that failed; by the new thread, with the size of its stack; and
 * at its end.
 */
void mire__mine_thread_comes(void);
void mire__mine_thread_fails(void);
void mire__mine_thread_begin(size_t stack_bytes);
void mire__mine_thread_end(void);

/* Wait until all threads of the library have begun, at most 100 ms: before, their stacks are unknown. */
void mire__mine_settle(void);

/*
 * The library's parts of a mapping.
 *   out  spans by address, without overlaps
 * Returns their number.
 */
size_t mire__mine_within(struct mine_span out[MIRE_MINE_MAX], uint64_t start, uint64_t end);

/*
 * The program has future mappings locked (mlockall with MCL_FUTURE), or not any more. Mappings of the library stay
 * unlocked: mire__pages_map uses this.
 */
void mire__mine_future_locked(bool locked);
bool mire__mine_is_future_locked(void);

#endif
