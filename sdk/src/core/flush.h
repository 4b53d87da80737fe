/*
 * flush.h - waits until all reports made so far are sent or dropped. Private to core/.
 */
#ifndef MIRE_CORE_FLUSH_H
#define MIRE_CORE_FLUSH_H

#include "core/monitor.h"

/* See mire_flush. Where nothing is watched the monitors are empty. Returns MIRE_OK, MIRE_E_TIMEOUT.  Thread: any. */
enum mire_err mire__flush(const struct monitor_context *monitors, struct store *store, uint32_t timeout_ms);

#endif
