/*
 * profile.h - a memory report for other tools: pprof's profile.proto, and collapsed stacks. Inside cli/ only.
 *
 *     inuse_objects, inuse_space    live blocks, and mappings as far as they lie in memory, by stack; the label
 *                                   `category` names the category. Mappings of allocators for the blocks are not counted again.
 *     alloc_objects, alloc_space    what was ever allocated from the heap; of reports in exact mode only
 *
 * Tables have totals by category and not by stack. So freed memory, and live memory of stacks that were not reported,
 * is one frame, "(stack not kept)", for each category.
 */
#ifndef MIRE_CLI_PROFILE_H
#define MIRE_CLI_PROFILE_H

#include "base/text.h"
#include "cli/document.h"

/* As a file that pprof reads: gzip'd profile.proto. Ask text_failed. */
void profile_pprof(struct text *out, const struct cli_document *document);

/* One line a stack: its functions from the outermost one with ; between, then its bytes. */
void profile_collapsed(struct text *out, const struct cli_document *document);

#endif
