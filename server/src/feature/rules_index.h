/*
 * rules_index.h - made packs in memory, and finding rules without trying each. Inside feature/ only.
 *
 *     key of a rule     its function's whole name, or its first bytes, 0, 1, 2, 3, 4, 6, 8 ...   "malloc"  "g_file"  ""
 *     a name is asked   under its whole and its first bytes by these numbers; of all rules found the first that fits
 */
#ifndef MIRE_FEATURE_RULES_INDEX_H
#define MIRE_FEATURE_RULES_INDEX_H

#include "feature/pattern.h"
#include "feature/rules.h"

#define MIRE_PACKS_MAX 16

struct rule {
    enum rule_class class;
    enum language language; /* UNKNOWN: any */
    bool entry, leaf;       /* asked for */
    uint16_t pack;
    uint32_t module; /* of the distinct ones */
    uint32_t line;
    struct pattern function;
    struct pattern file; /* text NULL: any */
    char *written;
};

struct rules_bucket {
    uint64_t key;
    uint32_t first, count; /* of the numbers */
};

struct rules_index {
    struct rules_bucket *buckets; /* a hash table; count 0: free */
    size_t room;                  /* power of two */
    uint32_t *numbers;            /* of rules, rising in each bucket */
};

struct rule_pack {
    const char *name;
    char *text;     /* cut up: the rules point into it */
    char *original; /* as it was read */
    size_t len;
    bool builtin;
    int given; /* its version, if the text does not tell */
    int version;
    size_t rule_count;
};

struct rules {
    size_t pack_count;
    struct rule_pack packs[MIRE_PACKS_MAX];
    size_t count, room;
    struct rule *rows;
    size_t module_count, module_room;
    struct pattern *modules; /* distinct */
    struct rules_index classes, marks;
    uint64_t *filter;     /* bits: that of a key that is in neither index is seldom set */
    uint64_t filter_mask; /* how many, less one */
    uint32_t lengths;     /* bits: keys of which length there are in either */
    uint32_t *own;        /* numbers of the rules of whole modules */
    size_t own_count;
};

/* Fill both indexes from the rows. 0, or -1 out of memory. */
int rules_index_make(struct rules *rules);
void rules_index_fini(struct rules_index *index);

#endif
