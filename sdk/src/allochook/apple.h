/*
 * apple.h - allocating calls on Apple's systems, seen in one of two ways.
 *
 *     zones_apple.c    the function pointers of each registered malloc_zone_t, a public structure: the real call runs
 *                      inside the hook, as elsewhere
 *     logger_apple.c   malloc_logger, a variable of libmalloc that no header declares: called after a block begins, and
 *                      before it ends. It also sees zones whose pointers cannot be changed
 *
 * Mappings have no hooks: regions_apple.c reads them from the kernel instead, with the tag that each maker gave.
 *
 * Thread: one at a time.  Signal handler: no.
 */
#ifndef MIRE_ALLOCHOOK_APPLE_H
#define MIRE_ALLOCHOOK_APPLE_H

#include "base/base.h"

/*
 * Hook the registered zones; again later, those that were made since.
 * Returns MIRE_OK, MIRE_E_SYSTEM: no zone's pointers could be changed.
 */
enum mire_err mire__zones_hook(void);

/* Give the zones their own pointers back. A thread inside a hook ends its call there. */
void mire__zones_unhook(void);

/*
 * Have libmalloc report each call, before its former listener.
 * Returns MIRE_OK, MIRE_E_SYSTEM: there is no such variable.
 */
enum mire_err mire__logger_hook(void);

/* End it. If somebody else listens through ours by now, ours stays, and only passes the events on. */
void mire__logger_unhook(void);

#endif
