/*
 * flush.h - waits until all reports made so far are sent or dropped. Private to core/.
 */
#ifndef MIRE_CORE_FLUSH_H
#define MIRE_CORE_FLUSH_H

#include "store/store.h"

/* See mire_flush. Returns MIRE_OK, MIRE_E_TIMEOUT.  Thread: any. */
enum mire_err mire__flush(struct store *store, uint32_t timeout_ms);

#endif
