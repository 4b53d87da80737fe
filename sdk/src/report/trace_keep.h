/*
 * trace_keep.h - the part of a system's trace that leaves the device: stacks of threads, their locks, and the reason of the end.
 * Memory contents, logs, open files and mappings, which a tombstone has too, do not; of a text the registers remain.
 */
#ifndef MIRE_REPORT_TRACE_KEEP_H
#define MIRE_REPORT_TRACE_KEEP_H

#include "base/base.h"

/*
 * Remove everything else, in place.
 *
 *   bytes  the text of an ANR, or a tombstone as text or protobuf; a cut one too. Anything else becomes empty or stays text
 *
 * Returns the new size, at most `size`. Thread: any.
 */
size_t mire__trace_keep(uint8_t *bytes, size_t size);

#endif
