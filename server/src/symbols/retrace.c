/*
 * retrace.c - finds the rows of a frame: of its class by search, of its method one by one, as R8 wrote them in order.
 */
#include "symbols/retrace_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *retrace_open(struct retrace **out, const struct object *object)
{
    struct retrace *retrace = calloc(1, sizeof *retrace);
    bool methods = object->facts.format == MIRE_FORMAT_METHODMAP;
    if (!retrace)
        return "needs more memory than there is";
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
    free(retrace->classes.rows);
    free(retrace->members.rows);
    free(retrace->numbers.rows);
    free(retrace);
}

static const struct retrace_class *find_class(const struct retrace *retrace, const struct piece_of_text *name)
{
    size_t low = 0;
    size_t high = retrace->classes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = retrace_compare(&retrace->classes.rows[middle].short_name, name);
        if (!order)
            return &retrace->classes.rows[middle];
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
    if (!member->source_from)
        return line;
    if (member->source_to == member->source_from || !line || line < member->from)
        return member->source_from; /* one line, or all of it an inlined call's place */
    uint32_t to = member->source_from + (line - member->from);
    return to < member->source_to ? to : member->source_to;
}

static struct retrace_frame make_frame(const struct retrace_class *class, const struct retrace_member *member,
                                       uint32_t line)
{
    const struct piece_of_text *home = member->class_name.len ? &member->class_name : &class->name;
    struct retrace_frame frame = {.class_name = home->at,
                                  .class_len = home->len,
                                  .method = member->name.at,
                                  .method_len = member->name.len,
                                  .line = source_line(member, line)};
    if (class->file.len && !member->class_name.len)
        snprintf(frame.file, sizeof frame.file, "%.*s", (int)class->file.len, class->file.at);
    else
        name_file(frame.file, home);
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
static const struct retrace_member *find_rows(const struct retrace_member *rows, size_t count,
                                              const struct piece_of_text *name, uint32_t line)
{
    for (size_t i = 0; line && i < count; i++)
        if (!retrace_compare(&rows[i].short_name, name) && rows[i].to && covers(&rows[i], line))
            return &rows[i];
    return NULL;
}

/* The chain that begins with a row: those behind it with the same lines. */
static size_t add_chain(struct retrace_frame *out, const struct retrace_class *class, const struct retrace_member *row,
                        const struct retrace_member *end, uint32_t line)
{
    const struct retrace_member *first = row;
    size_t count = 0;
    for (; row < end && count < MIRE_RETRACE_CHAIN && row->from == first->from && row->to == first->to &&
           !retrace_compare(&row->short_name, &first->short_name);
         row++) {
        bool last = row + 1 == end || row[1].from != first->from || row[1].to != first->to ||
                    retrace_compare(&row[1].short_name, &first->short_name) != 0;
        if (row->synthesized && !(last && !count))
            continue; /* made by the compiler; kept only where nothing else would be left */
        out[count++] = make_frame(class, row, line);
    }
    for (size_t i = 0; i + 1 < count; i++)
        out[i].inlined = true;
    return count;
}

/* Without a line: each method that has this name now, once. */
static size_t add_all(struct retrace_frame *out, const struct retrace_class *class, const struct retrace_member *rows,
                      size_t count, const struct piece_of_text *name)
{
    size_t found = 0;
    for (size_t i = 0; i < count && found < MIRE_RETRACE_CHAIN; i++) {
        bool inner = i + 1 < count && rows[i].to && rows[i + 1].from == rows[i].from && rows[i + 1].to == rows[i].to &&
                     !retrace_compare(&rows[i + 1].short_name, &rows[i].short_name);
        if (inner || retrace_compare(&rows[i].short_name, name) != 0)
            continue;
        struct retrace_frame frame = make_frame(class, &rows[i], 0);
        bool known = false;
        frame.line = 0;
        for (size_t k = 0; k < found; k++)
            known |= out[k].method_len == frame.method_len && !memcmp(out[k].method, frame.method, frame.method_len) &&
                     out[k].class_len == frame.class_len &&
                     !memcmp(out[k].class_name, frame.class_name, frame.class_len);
        if (!known)
            out[found++] = frame;
    }
    for (size_t i = 0; i < found; i++)
        out[i].ambiguous = found > 1;
    return found;
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
    const struct retrace_member *rows = retrace->members.rows + class->first;
    const struct retrace_member *end = rows + class->count;
    const struct retrace_member *row = find_rows(rows, class->count, &name, line);
    for (const struct retrace_member *place = row; position && place && place < end && covers(place, line); place++) {
        uint32_t moved = place->positions.len ? line_of_position(&place->positions, position) : 0;
        if (moved && find_rows(rows, class->count, &name, moved)) {
            line = moved;
            row = find_rows(rows, class->count, &name, line);
            break;
        }
    }
    if (row && row->outline && carry) {
        carry->position = line;
        return 0;
    }
    if (row)
        return add_chain(out, class, row, end, line);
    size_t count = add_all(out, class, rows, class->count, &name);
    if (count == 1 && line && !out[0].line)
        out[0].line = line; /* the lines of this method were left as they are */
    return count;
}

bool retrace_method(struct retrace_frame *out, const struct retrace *retrace, uint64_t number)
{
    size_t low = 0;
    size_t high = retrace->numbers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (retrace->numbers.rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == retrace->numbers.count || retrace->numbers.rows[low].number != number)
        return false;
    const struct retrace_number *row = &retrace->numbers.rows[low];
    *out = (struct retrace_frame){.class_name = row->class_name.at,
                                  .class_len = row->class_name.len,
                                  .method = row->method.at,
                                  .method_len = row->method.len};
    return true;
}
