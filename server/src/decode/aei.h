/*
 * aei.h - Android's ApplicationExitInfo: how runs of an app ended, as `dumpsys activity exit-info PACKAGE` and
 * ApplicationExitInfo.toString print them. Inside decode/ only.
 *
 *     package: com.example.app
 *         ApplicationExitInfo #0:
 *           timestamp=2026-07-12 06:03:48.426 pid=13137 ...
 *           process=com.example.app reason=3 (LOW_MEMORY) subreason=0 (UNKNOWN) status=0
 *           importance=100 pss=0.00 rss=131MB description=null state=empty trace=null
 *
 * The trace of an ANR is a file of its own: anr.h.
 */
#ifndef MIRE_DECODE_AEI_H
#define MIRE_DECODE_AEI_H

#include "decode/decode.h"

/*
 * Make a session record that has only ends, at most 64, of the first package. Its instants have no zone and are
 * taken as UTC, with a note.
 */
enum decode_outcome aei_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                               size_t len);

#endif
