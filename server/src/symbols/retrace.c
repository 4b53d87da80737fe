/*
 * retrace.c - finds the rows of a frame: of its class by search, of its method one by one, as R8 wrote them in order.
 */
#include "symbols/retrace_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char *retrace_open(struct retrace **out, const struct object *object)
{
    struct retrace *retrace = calloc(1, sizeof *retrace);
    bool methods = object->facts.format == MIRE_FORMAT_METHODMAP;
    if (!retrace)
        return "needs more memory than there is";
    retrace->head = (struct retrace_head){.magic = MIRE_RETRACE_MAGIC,
                                          .version = MIRE_RETRACE_VERSION,
                                          .methods = methods,
                                          .changed = object->facts.changed};
    if (methods ? !retrace_read_methods(retrace, &object->text) : !retrace_read_mapping(retrace, &object->text)) {
        retrace_close(retrace);
        return "needs more memory than there is";
    }
    *out = retrace;
    return NULL;
}

void retrace_close(struct retrace *retrace)
{
    if (!retrace)
        return;
    if (retrace->map) {
        munmap(retrace->map, retrace->map_len);
    } else {
        free((void *)(uintptr_t)retrace->classes);
        free((void *)(uintptr_t)retrace->members);
        free((void *)(uintptr_t)retrace->numbers);
    }
    free(retrace);
}

bool retrace_is_methods(const struct retrace *retrace)
{
    return retrace->head.methods;
}

bool retrace_is_whole(const struct retrace *retrace)
{
    return !retrace->head.changed;
}

static const struct retrace_class *find_class(const struct retrace *retrace, const struct piece_of_text *name)
{
    size_t low = 0;
    size_t high = retrace->head.class_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct piece_of_text short_name = retrace_text(retrace, &retrace->classes[middle].short_name);
        int order = retrace_compare(&short_name, name);
        if (!order)
            return &retrace->classes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* com.example.Outer$Inner -> Outer.java, as javac would have it. */
static void name_file(char *out, const struct piece_of_text *name)
{
    const char *dot = memrchr(name->at, '.', name->len);
    const char *from = dot ? dot + 1 : name->at;
    size_t len = (size_t)(name->at + name->len - from);
    const char *inner = len > 1 ? memchr(from + 1, '$', len - 1) : NULL;
    snprintf(out, MIRE_RETRACE_TEXT, "%.*s.java", (int)(inner ? inner - from : (ptrdiff_t)len), from);
}

static uint32_t source_line(const struct retrace_member *member, uint32_t line)
{
    if (member->source_from == MIRE_RETRACE_SAME)
        return line;
    if (member->source_to == member->source_from || !line || line < member->from)
        return member->source_from; /* one line, or all of it an inlined call's place */
    uint32_t to = member->source_from + (line - member->from);
    return to < member->source_to ? to : member->source_to;
}

/* The methods of one class. */
struct rows {
    const struct retrace *retrace;
    const struct retrace_class *class;
    const struct retrace_member *first, *end;
};

static struct rows rows_of(const struct retrace *retrace, const struct retrace_class *class)
{
    uint32_t count = retrace->head.member_count;
    bool good = class->first <= count && class->count <= count - class->first;
    const struct retrace_member *first = retrace->members + (good ? class->first : 0);
    return (struct rows){retrace, class, first, first + (good ? class->count : 0)};
}

static bool has_name(const struct rows *rows, const struct retrace_member *row, const struct piece_of_text *name)
{
    struct piece_of_text short_name = retrace_text(rows->retrace, &row->short_name);
    return !retrace_compare(&short_name, name);
}

static struct retrace_frame make_frame(const struct rows *rows, const struct retrace_member *member, uint32_t line)
{
    const struct retrace *retrace = rows->retrace;
    bool elsewhere = member->class_name.len;
    struct piece_of_text home = retrace_text(retrace, elsewhere ? &member->class_name : &rows->class->name);
    struct piece_of_text name = retrace_text(retrace, &member->name);
    struct piece_of_text file = retrace_text(retrace, &rows->class->file);
    struct retrace_frame frame = {.class_name = home.at,
                                  .class_len = home.len,
                                  .method = name.at,
                                  .method_len = name.len,
                                  .line = source_line(member, line)};
    if (file.len && !elsewhere)
        snprintf(frame.file, sizeof frame.file, "%.*s", (int)file.len, file.at);
    else
        name_file(frame.file, &home);
    return frame;
}

/* The line that stands for a position of an outline: "2":17 -> 17; 0: it is not among them. */
static uint32_t line_of_position(const struct piece_of_text *positions, uint32_t position)
{
    char key[16];
    int len = snprintf(key, sizeof key, "\"%u\":", position);
    const char *at = memmem(positions->at, positions->len, key, (size_t)len);
    uint64_t line = 0;
    if (!at)
        return 0;
    const char *end = positions->at + positions->len;
    for (at += len, at += at < end && *at == ' '; at < end && *at >= '0' && *at <= '9' && line < UINT32_MAX; at++)
        line = line * 10 + (uint64_t)(*at - '0');
    return line < UINT32_MAX ? (uint32_t)line : 0;
}

static bool covers(const struct retrace_member *member, uint32_t line)
{
    return member->from <= line && line <= member->to;
}

/* The first row of a method that covers a line; NULL: none does. */
static const struct retrace_member *find_row(const struct rows *rows, const struct piece_of_text *name, uint32_t line)
{
    for (const struct retrace_member *row = rows->first; line && row < rows->end; row++)
        if (row->to && covers(row, line) && has_name(rows, row, name))
            return row;
    return NULL;
}

/* Does the chain of a row go on with the next one? */
static bool goes_on(const struct rows *rows, const struct retrace_member *row, const struct piece_of_text *name)
{
    return row + 1 < rows->end && row[1].from == row->from && row[1].to == row->to && has_name(rows, row + 1, name);
}

/* The chain that begins with a row: those behind it with the same lines. */
static size_t add_chain(struct retrace_frame *out, const struct rows *rows, const struct retrace_member *row,
                        const struct piece_of_text *name, uint32_t line)
{
    size_t count = 0;
    bool more = true;
    for (; more && count < MIRE_RETRACE_CHAIN; row++) {
        more = goes_on(rows, row, name);
        if (row->synthesized && (more || count))
            continue; /* made by the compiler; kept only where nothing else would be left */
        out[count++] = make_frame(rows, row, line);
    }
    for (size_t i = 0; i + 1 < count; i++)
        out[i].inlined = true;
    return count;
}

static bool same_method(const struct retrace_frame *a, const struct retrace_frame *b)
{
    return a->method_len == b->method_len && !memcmp(a->method, b->method, a->method_len) &&
           a->class_len == b->class_len && !memcmp(a->class_name, b->class_name, a->class_len);
}

/* Without a line: each method that has this name now, once. */
static size_t add_all(struct retrace_frame *out, const struct rows *rows, const struct piece_of_text *name)
{
    size_t found = 0;
    for (const struct retrace_member *row = rows->first; row < rows->end && found < MIRE_RETRACE_CHAIN; row++) {
        if (!has_name(rows, row, name) || (row->to && goes_on(rows, row, name)))
            continue;
        struct retrace_frame frame = make_frame(rows, row, 0);
        bool known = false;
        frame.line = 0;
        for (size_t k = 0; k < found; k++)
            known |= same_method(&out[k], &frame);
        if (!known)
            out[found++] = frame;
    }
    for (size_t i = 0; i < found; i++)
        out[i].ambiguous = found > 1;
    return found;
}

/* The row that a line behind an outline's position leads to, and that line; a chain's rows tell it. NULL: none does. */
static const struct retrace_member *follow_position(uint32_t *line, const struct rows *rows,
                                                    const struct retrace_member *row, const struct piece_of_text *name,
                                                    uint32_t position)
{
    bool more = true;
    for (size_t i = 0; more && i < MIRE_RETRACE_CHAIN; i++, row++) {
        struct piece_of_text positions = retrace_text(rows->retrace, &row->positions);
        uint32_t moved = positions.len ? line_of_position(&positions, position) : 0;
        const struct retrace_member *found = moved ? find_row(rows, name, moved) : NULL;
        if (found) {
            *line = moved;
            return found;
        }
        more = goes_on(rows, row, name);
    }
    return NULL;
}

size_t retrace_frame(struct retrace_frame *out, struct retrace_carry *carry, const struct retrace *retrace,
                     const char *class_name, const char *method, uint32_t line)
{
    struct piece_of_text wanted = {class_name, (uint32_t)strnlen(class_name, INT32_MAX)};
    struct piece_of_text name = {method, (uint32_t)strnlen(method, INT32_MAX)};
    const struct retrace_class *class = find_class(retrace, &wanted);
    uint32_t position = carry ? carry->position : 0;
    if (carry)
        carry->position = 0;
    if (!class)
        return 0;
    struct rows rows = rows_of(retrace, class);
    const struct retrace_member *row = find_row(&rows, &name, line);
    const struct retrace_member *moved = row && position ? follow_position(&line, &rows, row, &name, position) : NULL;
    row = moved ? moved : row;
    if (row && row->outline && carry) {
        carry->position = line;
        return 0;
    }
    if (row)
        return add_chain(out, &rows, row, &name, line);
    size_t count = add_all(out, &rows, &name);
    if (count == 1 && line && !out[0].line)
        out[0].line = line; /* the lines of this method were left as they are */
    return count;
}

bool retrace_method(struct retrace_frame *out, const struct retrace *retrace, uint64_t number)
{
    size_t low = 0;
    size_t high = retrace->head.number_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (retrace->numbers[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == retrace->head.number_count || retrace->numbers[low].number != number)
        return false;
    const struct retrace_number *row = &retrace->numbers[low];
    struct piece_of_text class_name = retrace_text(retrace, &row->class_name);
    struct piece_of_text method = retrace_text(retrace, &row->method);
    *out = (struct retrace_frame){
        .class_name = class_name.at, .class_len = class_name.len, .method = method.at, .method_len = method.len};
    return true;
}
