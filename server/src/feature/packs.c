/*
 * packs.c - a platform is a file of server/rules, its mire_embed in server/CMakeLists.txt, and a row here.
 *
 * The order decides if two packs know a function: special packs first, the pack of Linux's libraries last.
 */
#include "feature/packs.h"

#define PACKS(row) \
    row(kernel) row(java) row(android) row(apple) row(rust) row(go) row(qt) row(glib) row(runtimes) row(linux_c)

#define DECLARE(name)                 \
    extern const char rules_##name[]; \
    extern const size_t rules_##name##_len;
PACKS(DECLARE)

#define ROW(name) {#name, rules_##name, &rules_##name##_len},
const struct pack_builtin packs_builtin[] = {PACKS(ROW)};
const size_t packs_builtin_count = sizeof packs_builtin / sizeof *packs_builtin;
