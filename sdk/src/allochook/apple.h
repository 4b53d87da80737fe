/*
 * apple.h - allocating calls on Apple's systems, seen in one of two ways.
 *
 *     zones_apple.c    the function pointers of each registered malloc_zone_t, a public structure: the real call runs
 *                      inside the hook, as elsewhere
 *     logger_apple.c   malloc_logger, a variable of libmalloc that no header declares: called after a block begins, and
 *                      before it ends. It also sees zones whose pointers cannot be changed
 *
 * Mappings have no hooks: regions_apple.c reads the mappings from the kernel instead, with the tags given by their
 * creators.
 *
 * Thread: one at a time.  Signal handler: no.
 */
#ifndef MIRE_ALLOCHOOK_APPLE_H
#define MIRE_ALLOCHOOK_APPLE_H

#include "base/base.h"

/*
 * Hook the registered zones; a later call hooks the zones that were created since.
 * Returns MIRE_OK, MIRE_E_SYSTEM: no zone's pointers could be changed.
 */
enum mire_err mire__zones_hook(void);

/* Restore the zones' own pointers. A thread inside a hook completes its call there. */
void mire__zones_unhook(void);

/*
 * Have libmalloc report each call; the previous listener is still called.
 * Returns MIRE_OK, MIRE_E_SYSTEM: libmalloc has no such variable.
 */
enum mire_err mire__logger_hook(void);

/* Stop listening. If another listener has been installed over the library's, the library's stays, and only passes
 * events on. */
void mire__logger_unhook(void);

#endif
