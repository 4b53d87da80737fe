/*
 * heap.h - the door of this folder: the memory tables of one run of a process, and all code that changes them.
 *
 *     allochook --> counters.h   counters of the thread; whether the thread is inside the tables
 *               --> stacks.h     stack -> node
 *               --> blocks.h     address -> size, node: in the shadow (shadow.h) or in the block table
 *               --> mappings.h, modules.h, classes.h
 *     core      --> tables.h     open and close the tables, switch the mode
 *     worker    --> reclaim.h    gives pages back, raises the sampling interval when the budget is used up
 *     report    --> heapread     reads the same bytes, in this process or in another one
 *
 * Threads: functions with `_as_` in their name may run on any thread, also on one that ends, and in a signal handler. The
 * caller is inside its slot (counters.h). The other functions name their thread. No wait is without a bound: a lock is
 * tried for a limited time.
 * Errors: an entry that finds no room or no lock is dropped and counted (enum heap_drop); the program's call goes on.
 * Ownership: the file's memory belongs to the caller of mire__heap_open, all other memory to the tables until
 * mire__heap_close. Nothing here calls the allocator. A forked child must not touch the tables of its parent; it opens its
 * own, or none.
 */
#ifndef MIRE_HEAP_HEAP_H
#define MIRE_HEAP_HEAP_H

#include "heap/blocks.h"
#include "heap/classes.h"
#include "heap/counters.h"
#include "heap/mappings.h"
#include "heap/modules.h"
#include "heap/reclaim.h"
#include "heap/stacks.h"
#include "heap/tables.h"

#endif
