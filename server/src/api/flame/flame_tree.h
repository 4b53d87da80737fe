/* flame_tree.h - how flame.c keeps a tree; only flame*.c look in here. */
#ifndef MIRE_API_FLAME_FLAME_TREE_H
#define MIRE_API_FLAME_FLAME_TREE_H

#include "model/resolved.h"

#include <stddef.h>
#include <stdint.h>

#define MIRE_FLAME_NO_PARENT UINT32_MAX

struct flame_frame {
    uint32_t parent; /* smaller than the own index */
    uint32_t name;
    uint32_t image;
    uint8_t role;
    double self; /* of stacks that end here: ms, bytes or objects */
};

struct flame_names {
    char **text;
    size_t count, cap;
    uint32_t *slots;
    size_t size;
};

struct flame {
    struct flame_names names, images;
    struct flame_frame *frames;
    size_t count, cap, max;
    uint32_t *slots;
    size_t size;
};

/* Merge the used nodes of a document below the frame map[0]; map has each node's frame. 0, -1 out of memory. */
int flame_add_nodes(struct flame *flame, uint32_t *map, const unsigned char *used, const struct resolved *doc);

#endif
