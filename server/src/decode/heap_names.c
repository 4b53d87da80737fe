/* heap_names.c - see heap_names.h. */
#include "decode/heap_names.h"

#define ROWS_MAX (1u << 20)

static bool seek(size_t *row_out, const struct heap_names *names, uint64_t address)
{
    const struct heap_name *rows = names->rows.rows;
    struct build_seek seek = {.hash = build_hash(names->build, &address, sizeof address)};
    while (build_seek(row_out, &names->table, &seek))
        if (rows[*row_out].address == address)
            return true;
    return false;
}

/* "main.keep+0x370 <tabs> /src/app.go:18" */
static void read_place(struct report_names *named, struct build *build, struct line_span line)
{
    const char *tab = span_find(&line, "\t");
    struct line_span name = tab ? span_cut(&line, tab, 1) : line;
    const char *plus = span_find_last(&name, "+0x");
    struct line_span function = plus ? span_cut(&name, plus, 0) : name;
    uint64_t number = 0;
    named->function = build_text(build, function.at, function.len);
    named->file = "";
    span_trim(&line);
    const char *colon = tab ? span_find_last(&line, ":") : NULL;
    if (!colon)
        return;
    struct line_span file = span_cut(&line, colon, 1);
    named->file = build_text(build, file.at, file.len);
    if (span_number(&number, &line, 10) && number <= INT32_MAX)
        named->line = (uint32_t)number;
}

void heap_names_take(struct heap_names *names, struct line_span line)
{
    uint64_t address = 0, last = names->last;
    size_t row;
    names->last = 0;
    span_trim(&line);
    if (!span_take(&line, "#"))
        return;
    span_trim(&line);
    if (span_take(&line, "LastGC = ") && span_number(&address, &line, 10))
        names->collected_ms = address / 1000000;
    if (!span_take(&line, "0x") || !span_number(&address, &line, 16) || !address)
        return;
    span_trim(&line);
    names->last = address;
    if (address != last)
        names->known = seek(&row, names, address);
    if (names->known)
        return;
    struct heap_name *added = build_push(names->build, &names->rows, sizeof *added, ROWS_MAX);
    if (!added)
        return;
    added->address = address;
    read_place(&added->names, names->build, line);
    if (address != last)
        build_insert(names->build, &names->table, build_hash(names->build, &address, sizeof address),
                     names->rows.count - 1);
}

const struct heap_name *heap_names_find(size_t *count_out, const struct heap_names *names, uint64_t address)
{
    const struct heap_name *rows = names->rows.rows;
    size_t row, count = 0;
    if (!seek(&row, names, address - 1) && !seek(&row, names, address))
        return NULL;
    while (row + count < names->rows.count && rows[row + count].address == rows[row].address)
        count++;
    *count_out = count;
    return rows + row;
}
