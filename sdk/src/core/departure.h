/*
 * departure.h - the ends that nobody calls mire_stop for: exit, an unloaded library, the watched thread's own. Private
 * to core/.
 */
#ifndef MIRE_CORE_DEPARTURE_H
#define MIRE_CORE_DEPARTURE_H

#include <stdbool.h>

/*
 * Call `stop` when the process exits (or unloads the library), or when the calling thread ends while others go on.
 * Again: the thread that called last is the one. Without memory for it the thread's end goes unnoticed.
 */
void mire__departure_hook(void (*stop)(bool exits));

#endif
