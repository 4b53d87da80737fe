/*
 * areas.h - the mappings of this process, and the part of each in the footprint. Private to report/ and core/.
 *
 *     /proc/self/smaps --> [ heap | library | anonymous | ours | stack ... ]   by address, each with its held bytes
 *
 * The footprint is the memory that cannot be read from a file again: anonymous, shared and swapped pages.
 */
#ifndef MIRE_REPORT_AREAS_H
#define MIRE_REPORT_AREAS_H

#include "base/base.h"
#include "platform/platform.h"

enum area_of {
    AREA_ANONYMOUS,
    AREA_HEAP,    /* the break */
    AREA_STACK,   /* the first thread's */
    AREA_LIBRARY, /* of a file with code, and its zero-initialised data */
    AREA_FILE,
    AREA_SHARED, /* shared memory without a file on a disk */
    AREA_OWN     /* of the library (platform/mine.h) */
};

struct area {
    uint64_t start, end, held_bytes;
    enum area_of of;
};

struct areas {
    struct area *list; /* by address */
    uint32_t count, cap;
    uint64_t held_bytes; /* of all areas: the footprint */
    uint64_t file_bytes; /* of files, in memory, not in the footprint */
    struct residence residence;
};

/*
 * Read the areas. Cost: some ms per GiB.
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM (the kernel hides them). Call mire__areas_fini after any result.
 * Thread: any of the library's.
 */
enum mire_err mire__areas_read(struct areas *out);
void mire__areas_fini(struct areas *areas);

#endif
