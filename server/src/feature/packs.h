/*
 * packs.h - the built-in packs: the files of server/rules, in their order. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_PACKS_H
#define MIRE_FEATURE_PACKS_H

#include <stddef.h>

struct pack_builtin {
    const char *name;
    const char *text;
    const size_t *len;
};

extern const struct pack_builtin packs_builtin[];
extern const size_t packs_builtin_count;

#endif
