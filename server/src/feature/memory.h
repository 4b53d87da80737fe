/*
 * memory.h - the feature of a memory report: the category to blame, the reason, and the function that allocated it.
 *
 *     "Malloc 48.00 KiB"  412 MiB, 11 times the healthy median          <- subject and reason: the first suspect
 *       78 %  malloc < operator new < std::vector::grow < decodeTile < drawPanel < onScroll < main loop
 *                                                         ^ Caller1              ^ Caller2
 *       12 %  malloc < ... < fetchThumbnail
 *
 * Each stack of a category has a Caller1 of its own: its innermost app frame. Allocators, also the app's own
 * (wrappers.h), containers and libraries are skipped. To blame is the Caller1 whose stacks have most of the suspect
 * amount of the category: bytes, objects, or growth. Without a suspect the largest category for which a rule sets a
 * limit stands for the report, with the reason "unknown".
 */
#ifndef MIRE_FEATURE_MEMORY_H
#define MIRE_FEATURE_MEMORY_H

#include "feature/feature.h"
#include "feature/suspects.h"

struct memory_packs {
    const struct rules *rules;
    const struct suspect_rules *suspects;
    struct healthy healthy;
    struct rules_seen *seen; /* as in feature_find */
};

/*
 * Find the feature, as feature_find. Sets in the document the locations' roles, the stacks' Caller1, and the members of
 * model/memory.h that belong to this stage.
 *
 * Returns 0, or MIRE_FAULT_MEMORY.
 */
int feature_find_memory(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                        const struct memory_packs *packs);

#endif
