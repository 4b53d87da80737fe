/*
 * row.h - the rules for a pc, by the format that its module has: `.eh_frame` (cfi.h), or in a Mach-O image compact
 * unwind information (compact.h). Signal-safe. Thread: one at a time per struct modules.
 */
#ifndef MIRE_UNWIND_ROW_H
#define MIRE_UNWIND_ROW_H

#include "unwind/modules.h"

/*
 * Read the row for a pc.
 *   exact  pc is an interrupted instruction; otherwise one byte before a return address
 * Returns false if nothing describes the pc, or the description cannot be read.
 */
bool mire__row_read(struct cfi_row *out, struct cfi_scratch *scratch, struct modules *modules,
                    const struct module *module, uint64_t pc, bool exact);

/* The same, through the cache. Returns the row, which stays until the next call; NULL for false. */
const struct cfi_row *mire__row_find(struct modules *modules, const struct module *module, uint64_t pc, bool exact);

#endif
