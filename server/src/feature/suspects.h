/*
 * suspects.h - rules for the categories of which a process has too much.
 *
 *     version 1
 *     # bytes   objects  grown    times  share  kind    category
 *       -       50       -        3      -      object  *ViewController*
 *       32MiB   -        16MiB    2      10     vm      *
 *       -       -        -        -      -      heap    Malloc 16 B          never suspect
 *
 * One rule a line; the first whose kind and category match decides, and a category without a match is never suspect. A
 * category is suspect if it has at least so many bytes, or at least so many objects, or grew by at least so many bytes
 * since the last snapshot of the run. The first of these that is true is the reason; for objects of a class the number
 * comes before the bytes. A - stands for any value. Two conditions narrow all three: at least so many times the median
 * of healthy processes, if that is known, and, except for numbers of objects, at least so many percent of all live
 * bytes. Bytes may end in KiB, MiB or GiB. A * in a category stands for any characters, a ? for one; the kind may be *.
 */
#ifndef MIRE_FEATURE_SUSPECTS_H
#define MIRE_FEATURE_SUSPECTS_H

#include "base/arena.h"
#include "feature/rules.h"
#include "model/population.h"

#define MIRE_SUSPECT_RULES_MAX 256
#define MIRE_HEALTHY_LEAST     5 /* healthy processes for a median */

struct suspect_rules;

/* As rules_parse, rules_builtin (server/rules/memory.rules), rules_load, rules_free and rules_version. */
enum rules_outcome suspect_rules_parse(struct suspect_rules **out, struct rules_fault *fault, const char *text,
                                       size_t len);
enum rules_outcome suspect_rules_builtin(struct suspect_rules **out, struct rules_fault *fault);
enum rules_outcome suspect_rules_load(struct suspect_rules **out, struct rules_fault *fault, const char *path);
void suspect_rules_free(struct suspect_rules *rules);
int suspect_rules_version(const struct suspect_rules *rules);

/* Healthy processes to compare with. */
struct healthy {
    enum healthy_scope scope;
    const struct population *population; /* NULL: there are too few */
};

/*
 * Find the suspects.
 *
 *   memory  its healthy figures and `found` are filled; ranks go by what is held beyond the healthy median, categories
 *           whose stacks are known first
 *
 * 0, or MIRE_FAULT_MEMORY.
 */
int suspects_find(struct memory *memory, struct arena *arena, const struct suspect_rules *rules,
                  const struct healthy *healthy);

#endif
