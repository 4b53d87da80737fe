/*
 * spare.h - how much freed memory a process keeps.
 *
 * By default malloc returns the end of its heap to the kernel with each request, and the next request takes a page fault for
 * every 4 KiB: a third of the time of a report of 50 KB.
 */
#ifndef MIRE_BASE_SPARE_H
#define MIRE_BASE_SPARE_H

/* Let each of malloc's arenas keep up to 16 MiB, and return larger blocks at once. Before the first thread; glibc alone. */
void spare_keep(void);

#endif
