/*
 * suspect_rules.h - a pack of rules for suspects, in memory. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_SUSPECT_RULES_H
#define MIRE_FEATURE_SUSPECT_RULES_H

#include "feature/suspects.h"

struct suspect_rule {      /* an unknown member stands for any value */
    enum memory_kind kind; /* MIRE_MEMORY_KIND_COUNT: any */
    const char *name;      /* pattern */
    unsigned line;         /* of its file */
    struct fact bytes, objects, grown;
    struct fact times; /* as much as healthy processes */
    struct fact share; /* percent of all live bytes */
};

struct suspect_rules {
    char *text;                 /* the rules point into it */
    struct suspect_rules *next; /* tried if none of these matches; NULL: the last */
    int version;
    size_t count;
    struct suspect_rule rows[MIRE_SUSPECT_RULES_MAX];
};

#endif
