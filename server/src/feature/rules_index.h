/*
 * rules_index.h - compiled packs in memory, and an index that finds rules without trying each. Inside feature/ only.
 *
 * Rules lie in a tree by the beginning of their function (prefixes.h), module patterns in two trees by their beginning.
 * A lookup walks along the name once: the rules at the visited nodes are candidates, and the first candidate that
 * matches decides. Rules of other names cost nothing. Rules whose function begins with a star, or is an expression, are
 * tried for every name.
 */
#ifndef MIRE_FEATURE_RULES_INDEX_H
#define MIRE_FEATURE_RULES_INDEX_H

#include "feature/pattern.h"
#include "feature/prefixes.h"
#include "feature/rules.h"

#define MIRE_PACKS_MAX 16

struct rule {
    enum rule_class class;
    enum language language; /* UNKNOWN: any */
    bool entry, leaf;       /* asked for */
    uint16_t pack;
    uint32_t module; /* number of its distinct one */
    uint32_t line;
    struct pattern function;
    struct pattern file; /* text NULL: any */
    char *written;
};

struct rule_pack {
    const char *name;
    char *text;     /* cut into pieces; the rules point into the text */
    char *original; /* unchanged */
    size_t len;
    bool builtin;
    int given; /* its version, if the text has none */
    int version;
    size_t rule_count;
};

struct rules {
    uint64_t number; /* of all rules that this process made */
    size_t pack_count;
    struct rule_pack packs[MIRE_PACKS_MAX];
    size_t count, room;
    struct rule *rows;
    size_t module_count, module_room;
    struct pattern *modules;            /* distinct */
    struct prefixes functions;          /* of all rules but those of whole modules */
    struct prefixes by_name, by_folder; /* of the module patterns: compared with a base name, with a path */
    uint32_t *own;                      /* numbers of the rules of whole modules */
    size_t own_count;
};

/* Make the trees from the rows. 0, or -1 out of memory; rules_index_fini in both cases. */
int rules_index_make(struct rules *rules);
void rules_index_fini(struct rules *rules);

#endif
