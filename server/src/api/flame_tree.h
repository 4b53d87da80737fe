/* flame_tree.h - how flame.c keeps a tree; only flame*.c look in here. */
#ifndef MIRE_API_FLAME_TREE_H
#define MIRE_API_FLAME_TREE_H

#include <stddef.h>
#include <stdint.h>

#define MIRE_FLAME_NO_PARENT UINT32_MAX

struct flame_frame {
    uint32_t parent; /* smaller than the own index */
    uint32_t name;
    uint32_t image;
    uint8_t role;
    double self; /* ms of the samples that end here */
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

#endif
