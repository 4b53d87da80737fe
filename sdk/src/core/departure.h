/*
 * departure.h - ends without mire_stop: exit, an unloaded library, the end of the watched thread. Private to core/.
 */
#ifndef MIRE_CORE_DEPARTURE_H
#define MIRE_CORE_DEPARTURE_H

#include <stdbool.h>

/*
 * Have `stop` called when the process exits or unloads the library, or when the calling thread ends while others
 * continue. A later call replaces the thread. Without memory, the thread's end goes unnoticed.
 */
void mire__departure_hook(void (*stop)(bool exits));

#endif
