/*
 * known.h - known issues in memory, with the interface of cluster.h and the behavior of pg/.
 *
 *     key   -> issue
 *     blame -> its first issue, and their number
 *     issue -> the issue it is shown as
 */
#ifndef MIRE_BENCH_KNOWN_H
#define MIRE_BENCH_KNOWN_H

#include "cluster/cluster.h"

enum { KNOWN_ROOM = 1 << 16 }; /* room of each table; much more than is used */

struct known_row {
    uint8_t key[MIRE_FEATURE_KEY_LEN];
    int64_t issue; /* 0: free */
    int64_t count;
};

struct known {
    struct known_row keys[KNOWN_ROOM], blames[KNOWN_ROOM];
    int64_t shown[KNOWN_ROOM]; /* by issue, from 1 */
    int64_t count;
};

/* The functions for cluster.h. */
struct cluster_index known_index(struct known *known);

#endif
