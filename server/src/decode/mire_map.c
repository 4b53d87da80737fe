/* mire_map.c - objects whose names the format leaves open: sampling by plugin, drops by reason. */
#include "decode/mire.h"

#include <string.h>

enum bind_outcome mire_read_map(size_t *count_out, struct bind *bind, uint32_t at, void *rows,
                                enum bind_outcome (*row)(struct bind *bind, void *rows, size_t i, const char *name,
                                                         uint32_t value))
{
    const struct json *json = bind->json;
    const char **names = arena_array(bind->arena, json_size(json, at), sizeof *names);

    if (!names)
        return MIRE_BIND_NO_MEMORY;
    uint32_t member = at + 1;
    for (size_t i = 0; i < json_size(json, at); i++, member = json_next(json, member + 1)) {
        enum bind_outcome outcome = bind_text(&names[i], bind, member, MIRE_WIRE_TEXT_MAX);
        if (outcome)
            return outcome;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names[k], names[i]))
                return bind_wrong_at(bind, names[i], "given twice");
        bind_enter(bind, names[i], 0);
        outcome = row(bind, rows, i, names[i], member + 1);
        if (outcome)
            return outcome;
        bind_leave(bind);
    }

    *count_out = json_size(json, at);
    return MIRE_BIND_OK;
}

enum bind_outcome mire_is_map(struct bind *bind, uint32_t at)
{
    enum bind_outcome outcome = bind_is_object(bind, at);
    if (!outcome && json_size(bind->json, at) > MAP_MAX)
        outcome = bind_wrong(bind, "must have at most %d members", MAP_MAX);
    return outcome;
}

static enum bind_outcome read_number(struct bind *bind, void *rows, size_t i, const char *name, uint32_t value)
{
    struct report_named_number *row = (struct report_named_number *)rows + i;
    row->name = name;
    return bind_number(&row->value, bind, value, 0, UINT64_MAX);
}

enum bind_outcome mire_read_numbers(const struct report_named_number **out, size_t *count_out, struct bind *bind,
                                    uint32_t at)
{
    enum bind_outcome outcome = mire_is_map(bind, at);
    if (outcome)
        return outcome;
    struct report_named_number *rows = arena_array(bind->arena, json_size(bind->json, at), sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    *out = rows;
    return mire_read_map(count_out, bind, at, rows, read_number);
}
