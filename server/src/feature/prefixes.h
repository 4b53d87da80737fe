/*
 * prefixes.h - texts in a tree of their letters: one walk along a name meets every text that the name begins with. The
 * walk is as long as the name's longest such text, however many texts there are. Inside feature/ only.
 *
 *     texts            "g_fi"  "g_file_load"  "malloc"
 *     nodes            "" has the children "g_fi" and "malloc", "g_fi" has the child "le_load"
 *     "g_file_x" meets "" and "g_fi"
 *
 * A tree is made once and then only read: any number of threads may walk it.
 */
#ifndef MIRE_FEATURE_PREFIXES_H
#define MIRE_FEATURE_PREFIXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prefix {
    const char *text; /* need not end with NUL, and holds none; must live as long as the tree */
    uint32_t len;
    uint32_t number; /* the caller's */
};

struct prefix_node {
    const char *text; /* of the node and of all outside it */
    uint32_t len;
    uint32_t child, child_count; /* the children lie beside each other */
    uint32_t first, count;       /* in `numbers`: of the texts that end here, rising */
};

struct prefixes {
    struct prefix_node *nodes; /* the first one is the empty text's; it is there even in a tree without texts */
    unsigned char *letters;    /* per node: the first one behind its parent's text */
    uint32_t *numbers;
};

/* `texts` are sorted in place. 0, or -1 out of memory; prefixes_fini in both cases. */
int prefixes_make(struct prefixes *out, struct prefix *texts, size_t count);
void prefixes_fini(struct prefixes *prefixes);

/* The node below that the name goes on with; NULL: there is none. A walk begins at nodes[0]. */
const struct prefix_node *prefixes_next(const struct prefixes *prefixes, const struct prefix_node *node,
                                        const char *name);

#endif
