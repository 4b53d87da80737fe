/*
 * memory.h - the feature of a memory report: which category there is too much of, why, and who allocated it.
 *
 *     "Malloc 48.00 KiB"  412 MiB, 11 times the healthy median          <- subject and reason: the first suspect
 *       78 %  malloc < operator new < std::vector::grow < decodeTile < drawPanel < onScroll < main loop
 *                                                         ^ Caller1              ^ Caller2
 *       12 %  malloc < ... < fetchThumbnail
 *
 * Each stack of a category has a Caller1 of its own: its innermost app frame, as allocators (the app's own ones too,
 * wrappers.h), containers and libraries are passed over. To blame is the one whose stacks hold most of what the
 * category is suspect of: bytes, objects, or growth. Without a suspect the largest category that a rule lets be suspect
 * stands for the report, with the reason "unknown".
 */
#ifndef MIRE_FEATURE_MEMORY_H
#define MIRE_FEATURE_MEMORY_H

#include "feature/feature.h"
#include "feature/suspects.h"

struct memory_packs {
    const struct rules *rules;
    const struct suspect_rules *suspects;
    struct healthy healthy;
};

/*
 * Find the feature. As feature_find; of the document it fills the locations' roles, the stacks' Caller1, and what memory.h
 * of model/ says is filled by this stage.
 *
 * Returns 0, or MIRE_FAULT_MEMORY.
 */
int feature_find_memory(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                        const struct memory_packs *packs);

#endif
