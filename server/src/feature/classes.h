/*
 * classes.h - the class of every function in a report, and its rule. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_CLASSES_H
#define MIRE_FEATURE_CLASSES_H

#include "base/arena.h"
#include "feature/names.h"
#include "feature/rules.h"
#include "feature/seen.h"
#include "model/resolved.h"

struct classes {
    enum rule_class *of;    /* one for each location */
    enum rule_class *marks; /* one for each location: idle, truncated, meaningless, or none */
    bool marked;            /* any location is */
    struct name *names;     /* one for each location */
};

/*
 * Class, mark and names of every location; roles and rules in the document.
 *
 *   doc   its locations are replaced by a copy with roles and rules, its rules are filled
 *   seen  answers that earlier reports got, in the same arena; NULL: none are shared
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int classes_find(struct classes *out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules, struct rules_seen *seen);

/* Is the class never to blame, and not unknown either? */
static inline bool class_is_skipped(enum rule_class rule)
{
    return rule != MIRE_CLASS_NONE && !rule_class_is_app(rule);
}

#endif
