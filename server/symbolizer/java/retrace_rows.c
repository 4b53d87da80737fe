/*
 * retrace_rows.c - see retrace_rows.h.
 */
#include "java/retrace_rows.h"

#include <string.h>

static bool same_text(const struct retrace *retrace, const struct place_of_text *a, const struct place_of_text *b)
{
    struct piece_of_text x = retrace_text(retrace, a), y = retrace_text(retrace, b);
    return !retrace_compare(&x, &y);
}

static bool same_lines(const struct retrace_member *a, const struct retrace_member *b)
{
    return a->has_lines && b->has_lines && a->from == b->from && a->to == b->to;
}

bool retrace_covers(const struct retrace_member *row, uint32_t line)
{
    return row->has_lines && row->from <= line && line <= row->to;
}

struct member_rows retrace_rows_of(const struct retrace *retrace, const struct retrace_class *class, const char *method)
{
    uint32_t count = retrace->head.member_count;
    bool good = class->first <= count && class->count <= count - class->first;
    const struct retrace_member *low = retrace->members + (good ? class->first : 0);
    const struct retrace_member *end = low + (good ? class->count : 0), *high = end;
    struct piece_of_text name = {method, (uint32_t)strnlen(method, INT32_MAX)}, this;
    while (low < high) {
        const struct retrace_member *middle = low + (high - low) / 2;
        this = retrace_text(retrace, &middle->short_name);
        if (retrace_compare(&this, &name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < end; high++) {
        this = retrace_text(retrace, &high->short_name);
        if (retrace_compare(&this, &name) != 0)
            break;
    }
    return (struct member_rows){low, high};
}

const struct retrace_member *retrace_outermost(const struct retrace_member *row, const struct retrace_member *end)
{
    while (row + 1 < end && same_lines(row, row + 1))
        row++;
    return row;
}

struct member_rows retrace_next_group(const struct retrace *retrace, const struct member_rows *all,
                                      const struct retrace_member *first)
{
    const struct retrace_member *last = retrace_outermost(first, all->end);
    if (first == all->first && same_text(retrace, &last->signature, &all->end[-1].signature))
        return *all;
    for (const struct retrace_member *next; last + 1 < all->end; last = next) {
        next = retrace_outermost(last + 1, all->end);
        if (!same_text(retrace, &last->signature, &next->signature))
            break;
    }
    return (struct member_rows){first, last + 1};
}

struct member_rows retrace_rows_at(const struct member_rows *group, uint32_t line)
{
    const struct retrace_member *row = group->first;
    while (row < group->end && !retrace_covers(row, line))
        row++;
    return (struct member_rows){row, row < group->end ? retrace_outermost(row, group->end) + 1 : row};
}

struct member_rows retrace_row_without_lines(const struct member_rows *group)
{
    const struct retrace_member *row = group->first;
    while (row < group->end && row->has_lines)
        row++;
    return (struct member_rows){row, row < group->end ? row + 1 : row};
}
