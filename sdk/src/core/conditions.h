/*
 * conditions.h - the conditions of the device that the library knows itself, as tags of reports. Private to core/.
 */
#ifndef MIRE_CORE_CONDITIONS_H
#define MIRE_CORE_CONDITIONS_H

#include "mire/delivery.h"

/* The app has set the network. Thread: any. */
void mire__condition_network(enum mire_network network);

/* Set the free memory and the free disk of the store's directory, if the last time is long ago. Thread: the worker. */
void mire__condition_room(const char *store);

#endif
