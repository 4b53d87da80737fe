/*
 * areas.h - the mappings of this process, and what each adds to the footprint. Private to report/ and core/.
 *
 *     /proc/self/smaps --> [ heap | library | anonymous | ours | stack ... ]   by address, each with its held bytes
 *
 * The footprint is what cannot be read from a file again: anonymous, shared and swapped pages.
 */
#ifndef MIRE_REPORT_AREAS_H
#define MIRE_REPORT_AREAS_H

#include "base/base.h"
#include "platform/platform.h"

enum area_of {
    AREA_ANONYMOUS,
    AREA_HEAP,    /* the break */
    AREA_STACK,   /* the first thread's */
    AREA_LIBRARY, /* of a file that code is run from, and what its data grows into */
    AREA_FILE,
    AREA_SHARED, /* memory that processes share, without a file on a disk */
    AREA_OWN     /* the library's (platform/mine.h) */
};

struct area {
    uint64_t start, end, held_bytes;
    enum area_of of;
};

struct areas {
    struct area *list; /* by address */
    uint32_t count, cap;
    uint64_t held_bytes; /* all of them: the footprint */
    uint64_t file_bytes; /* of files, in memory, and not in the footprint */
    struct residence residence;
};

/*
 * Read them. Some ms for a GiB.
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM (the kernel does not let the process see them); mire__areas_fini is due
 * whatever it returns. Thread: any of ours.
 */
enum mire_err mire__areas_read(struct areas *out);
void mire__areas_fini(struct areas *areas);

#endif
