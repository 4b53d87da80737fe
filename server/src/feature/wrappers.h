/*
 * wrappers.h - the app's own allocators, found by their position in a memory report's stacks. Inside feature/ only.
 *
 *     main > on_message > store_payload > mosquitto__calloc | calloc      a wrapper: two callers, no other callee,
 *     main > on_connect > new_context   > mosquitto__calloc | calloc      every stack ends in the wrapper
 *                                         ^
 * A wrapper is never to blame; its callers are. The evidence, the strongest first:
 *
 *     malloc, calloc, realloc, strdup, strndup, memdup in the name      no caller is counted
 *     alloc in the name                                                 two callers
 *     the position alone                                                two callers and three sizes of block, or three
 *                                                                       callers and two sizes
 *
 * A function that a rule calls app stays app. A constructor allocates blocks of one size, an allocator blocks of any
 * size: the sizes decide if the name does not.
 */
#ifndef MIRE_FEATURE_WRAPPERS_H
#define MIRE_FEATURE_WRAPPERS_H

#include "base/arena.h"
#include "feature/classes.h"

/*
 * Give the wrappers among the app's functions the class of allocators.
 *
 *   classes    of classes_find; changed
 *   functions  of tree_functions
 *   doc        the roles of its locations, from classes_find, are changed
 *   plain_out  the classes as they were, one a location
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int wrappers_find(enum rule_class **plain_out, struct classes *classes, struct arena *arena, struct resolved *doc,
                  const uint32_t *functions);

#endif
