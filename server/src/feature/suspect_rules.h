/*
 * suspect_rules.h - a pack of rules for suspects, in memory. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_SUSPECT_RULES_H
#define MIRE_FEATURE_SUSPECT_RULES_H

#include "feature/suspects.h"

struct suspect_rule {      /* what is not known stands for "whatever it is" */
    enum memory_kind kind; /* MIRE_MEMORY_KIND_COUNT: any */
    const char *name;      /* pattern */
    unsigned line;         /* of its file */
    struct fact bytes, objects, grown;
    struct fact times; /* as much as healthy processes */
    struct fact share; /* percent of all live bytes */
};

struct suspect_rules {
    char *text;                 /* the rules point into it */
    struct suspect_rules *next; /* asked when none of these fits; NULL: this is the last */
    int version;
    size_t count;
    struct suspect_rule rows[MIRE_SUSPECT_RULES_MAX];
};

#endif
