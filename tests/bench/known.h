/*
 * known.h - known issues in memory, as pg/ keeps them: what cluster.h asks.
 *
 *     key   -> issue
 *     blame -> the first issue of it, and how many
 *     issue -> the one it is shown as
 */
#ifndef MIRE_BENCH_KNOWN_H
#define MIRE_BENCH_KNOWN_H

#include "cluster/cluster.h"

enum { KNOWN_ROOM = 1 << 16 }; /* issues, and keys of each kind: far fewer are used */

struct known_row {
    uint8_t key[MIRE_FEATURE_KEY_LEN];
    int64_t issue; /* 0: free */
    int64_t count;
};

struct known {
    struct known_row keys[KNOWN_ROOM], blames[KNOWN_ROOM];
    int64_t shown[KNOWN_ROOM]; /* per issue, counted from 1 */
    int64_t count;
};

/* Functions on it. */
struct cluster_index known_index(struct known *known);

#endif
