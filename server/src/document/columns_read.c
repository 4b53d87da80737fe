/*
 * columns_read.c - reads what columns.h describes. The rows are ours, yet everything is checked: a bad row must not take
 * the server with it. A whole column has a byte or more a row, so nobody is made to take much memory for few bytes.
 */
#include "document/columns.h"

#include "base/varint.h"
#include "model/frames.h"

#include <string.h>

struct packed_rows {
    struct arena *arena;
    const unsigned char *at, *end;
    bool failed;
};

/* A column as it stands: value_of has the values of its rows. */
struct packed_column {
    uint64_t *values;
    size_t count;
};

static struct packed_column failed(struct packed_rows *c)
{
    c->failed = true;
    return (struct packed_column){0};
}

/* The next column; of a table's first one `rows` is SIZE_MAX. */
static struct packed_column take(struct packed_rows *c, size_t rows, uint64_t most)
{
    uint64_t count = 0;

    if (c->failed || !varint_take(&count, &c->at, c->end, (uint64_t)(c->end - c->at)))
        return failed(c);
    struct packed_column column = {arena_array(c->arena, count + 1, sizeof *column.values), count};
    if (!column.values || (rows != SIZE_MAX && (count > rows || (rows && !count))))
        return failed(c);
    for (size_t i = 0; i < count; i++)
        if (!varint_take(&column.values[i], &c->at, c->end, most))
            return failed(c);
    return column;
}

static uint64_t value_of(const struct packed_column *column, size_t row)
{
    return column->values[row < column->count ? row : column->count - 1];
}

static const char **take_texts(size_t *count_out, struct packed_rows *c)
{
    uint64_t count = 0;

    if (!varint_take(&count, &c->at, c->end, (uint64_t)(c->end - c->at)))
        return NULL;
    const char **texts = arena_array(c->arena, count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        uint64_t len;
        if (!varint_take(&len, &c->at, c->end, SIZE_MAX) || len > (size_t)(c->end - c->at))
            return NULL;
        texts[i] = arena_copy(c->arena, (const char *)c->at, len);
        c->at += len;
        if (!texts[i])
            return NULL;
    }
    *count_out = count;
    return texts;
}

static int read_locations(struct resolved *out, struct packed_rows *c, const char *const *texts, size_t text_count)
{
    struct packed_column function = take(c, SIZE_MAX, UINT64_MAX);
    size_t rows = function.count;
    uint64_t last = text_count ? text_count - 1 : 0;
    struct packed_column image = take(c, rows, last), file = take(c, rows, last), line = take(c, rows, UINT32_MAX);
    struct packed_column offset = take(c, rows, UINT64_MAX), flags = take(c, rows, 3);
    struct packed_column role = take(c, rows, MIRE_ROLE_COUNT - 1), rule = take(c, rows, UINT32_MAX);
    struct packed_column mark = take(c, rows, UINT32_MAX);
    struct resolved_location *locations = c->failed ? NULL : arena_array(c->arena, rows + 1, sizeof *locations);

    if (!locations || (rows && !text_count))
        return -1;
    for (size_t i = 0; i < rows; i++) {
        uint64_t number = function.values[i], bare = number & 1 ? number >> 1 : 0;
        locations[i] = (struct resolved_location){.image = texts[value_of(&image, i)],
                                                  .file = texts[value_of(&file, i)],
                                                  .line = (uint32_t)value_of(&line, i),
                                                  .offset = bare + (uint64_t)columns_unfold(value_of(&offset, i)),
                                                  .named = value_of(&flags, i) & 1,
                                                  .inlined = value_of(&flags, i) & 2,
                                                  .role = (enum role)value_of(&role, i),
                                                  .rule = (uint32_t)value_of(&rule, i),
                                                  .mark = (uint32_t)value_of(&mark, i)};
        if (!(number & 1) && number >> 1 > last)
            return -1;
        locations[i].function = number & 1 ? frames_bare(c->arena, locations[i].image, bare) : texts[number >> 1];
        if (!locations[i].function)
            return -1;
    }
    out->locations = locations;
    out->location_count = rows;
    return 0;
}

static int read_nodes(struct resolved *out, struct packed_rows *c)
{
    struct packed_column parent = take(c, SIZE_MAX, UINT32_MAX);
    size_t rows = parent.count;
    struct packed_column location = take(c, rows, UINT64_MAX);
    struct resolved_node *nodes = c->failed ? NULL : arena_array(c->arena, rows + 1, sizeof *nodes);
    uint64_t at = 0;

    if (!nodes)
        return -1;
    for (size_t i = 0; i < rows; i++) {
        at += (uint64_t)columns_unfold(value_of(&location, i));
        if (parent.values[i] > i || at >= out->location_count)
            return -1;
        nodes[i + 1] = (struct resolved_node){(uint32_t)(i - parent.values[i]), (uint32_t)at};
    }
    out->nodes = nodes;
    out->node_count = rows + 1;
    return 0;
}

static int read_samples(struct resolved *out, struct packed_rows *c)
{
    struct packed_column at_ms = take(c, SIZE_MAX, UINT64_MAX);
    size_t rows = at_ms.count;
    struct packed_column weight_ms = take(c, rows, UINT32_MAX), node = take(c, rows, out->node_count - 1);
    struct packed_column state = take(c, rows, 127), syscall = take(c, rows, UINT32_MAX), loss = take(c, rows, 127);
    struct packed_column folded = take(c, rows, UINT32_MAX), skipped = take(c, rows, UINT32_MAX);
    struct packed_column thread = take(c, rows, UINT32_MAX);
    struct report_sample *samples = c->failed ? NULL : arena_array(c->arena, rows + 1, sizeof *samples);
    uint64_t at = 0;

    if (!samples)
        return -1;
    for (size_t i = 0; i < rows; i++) {
        at += (uint64_t)columns_unfold(at_ms.values[i]);
        if (at > UINT32_MAX)
            return -1;
        samples[i] = (struct report_sample){.at_ms = (uint32_t)at,
                                            .weight_ms = (uint32_t)value_of(&weight_ms, i),
                                            .node = (uint32_t)value_of(&node, i),
                                            .state = (char)value_of(&state, i),
                                            .syscall = (int32_t)columns_unfold(value_of(&syscall, i)),
                                            .thread = (uint32_t)value_of(&thread, i),
                                            .loss = (char)value_of(&loss, i),
                                            .folded = (uint32_t)value_of(&folded, i),
                                            .skipped = (uint32_t)value_of(&skipped, i)};
    }
    out->samples = samples;
    out->sample_count = rows;
    return 0;
}

int columns_read(struct resolved *out, struct arena *arena, const unsigned char *bytes, size_t len)
{
    struct packed_rows c = {.arena = arena, .at = bytes, .end = bytes + len};
    size_t text_count = 0;
    const char **texts = take_texts(&text_count, &c);

    if (!texts || read_locations(out, &c, texts, text_count) || read_nodes(out, &c) || read_samples(out, &c))
        return -1;
    return c.at == c.end ? 0 : -1;
}

bool columns_fit(const struct resolved *doc)
{
    for (size_t i = 0; i < doc->location_count; i++)
        if (doc->locations[i].rule > doc->rule_count || doc->locations[i].mark > doc->rule_count)
            return false;
    for (size_t i = 0; i < doc->sample_count; i++)
        if (doc->samples[i].thread > doc->thread_count)
            return false;
    return true;
}
