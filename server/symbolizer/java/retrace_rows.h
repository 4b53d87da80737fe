/*
 * retrace_rows.h - the rows of a method in a mapping, in groups. Internal to java/.
 *
 *     rows of the method's short name, in the mapping's order
 *       |  cut where the outermost method changes         overloads that share the short name
 *     groups
 *
 * Rows that follow each other with the same lines are a chain of inlined calls, the method itself last.
 */
#ifndef MIRE_JAVA_RETRACE_ROWS_H
#define MIRE_JAVA_RETRACE_ROWS_H

#include "java/retrace_inside.h"

struct member_rows {
    const struct retrace_member *first, *end;
};

bool retrace_covers(const struct retrace_member *row, uint32_t line);

/* The rows of a short name. */
struct member_rows retrace_rows_of(const struct retrace *retrace, const struct retrace_class *class,
                                   const char *method);

/* The last row of a chain that begins at `row`: the method itself. */
const struct retrace_member *retrace_outermost(const struct retrace_member *row, const struct retrace_member *end);

/* The rows of one method, from `first` on, while chains end in that method. */
struct member_rows retrace_next_group(const struct retrace *retrace, const struct member_rows *all,
                                      const struct retrace_member *first);

/* The chain of the first row that covers the line; empty if none does. */
struct member_rows retrace_rows_at(const struct member_rows *group, uint32_t line);

/* The first row without lines; empty if each has lines. */
struct member_rows retrace_row_without_lines(const struct member_rows *group);

#endif
