/*
 * classes.h - what kind of work every function of a report does. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_CLASSES_H
#define MIRE_FEATURE_CLASSES_H

#include "base/arena.h"
#include "feature/rules.h"
#include "model/resolved.h"

/*
 * Class of every place, and its role in the document.
 *
 *   out  one a place
 *   doc  its places are replaced by a copy with roles
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int classes_find(enum rule_class **out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules);

#endif
