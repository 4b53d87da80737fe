/*
 * classes.h - names of object classes and tags, each stored once, and their counters.
 *
 * Classes are only ever added. Counters are shared by all threads, so live, total and peak are exact at every instant.
 */
#ifndef MIRE_HEAP_CLASSES_H
#define MIRE_HEAP_CLASSES_H

#include "heap/tables.h"

/*
 * The number of the class of that name, added if it is new.
 *   name  UTF-8, cut to MIRE_HEAP_NAME_BYTES with its end; borrowed
 * Returns 1..MIRE_HEAP_CLASSES_MAX-1; 0, counted as a drop, if the table is full or busy, or the name is empty.
 * Thread: any, inside its slot. Costs a comparison of names: remember the number.
 */
uint32_t mire__classes_as_find(struct heap *heap, const char *name);

/* A block of a class begins to live, or ends. `class` as above. Thread: any. */
void mire__classes_as_count(struct heap *heap, uint32_t class, uint64_t size);
void mire__classes_as_uncount(struct heap *heap, uint32_t class, uint64_t size);

/* The same for any shared counter. */
void mire__shared_as_count(struct heap_shared_count *counts, uint64_t count, uint64_t bytes);
void mire__shared_as_uncount(struct heap_shared_count *counts, uint64_t count, uint64_t bytes);

#endif
