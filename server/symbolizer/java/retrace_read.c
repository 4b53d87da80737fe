/*
 * retrace_read.c - parses the lines of mappings.
 */
#include "java/retrace_inside.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_NUMBER 0x7fffffffu
#define SPREAD_MAX      4096 /* limit of rows of one name that share remarks; the work is quadratic */

struct mapping_reading {
    const char *texts, *end;
    struct {
        struct retrace_class *rows;
        size_t count, room;
    } classes;
    struct {
        struct retrace_member *rows;
        size_t count, room;
    } members;
    struct {
        struct retrace_number *rows;
        size_t count, room;
    } numbers;
};

int retrace_compare(const struct piece_of_text *a, const struct piece_of_text *b)
{
    int order = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* Offsets fit: a file has at most MIRE_OBJECT_FILE_MAX bytes. */
static struct place_of_text place(const struct mapping_reading *r, const char *from, const char *to)
{
    return (struct place_of_text){(uint32_t)(from - r->texts), to > from ? (uint32_t)(to - from) : 0};
}

/* Read the digits at *at and move past them. Returns false if there are none, or too many. */
static bool take_number(uint32_t *out, const char **at)
{
    uint64_t value = 0;
    const char *p = *at;
    while (*p >= '0' && *p <= '9' && value <= LINE_MAX_NUMBER)
        value = value * 10 + (uint64_t)(*p++ - '0');
    if (p == *at || value > LINE_MAX_NUMBER)
        return false;
    *out = (uint32_t)value;
    *at = p;
    return true;
}

/* "a.b.C -> x.y:" */
static bool take_class(struct mapping_reading *r, const char *line)
{
    const char *arrow = strstr(line, " -> ");
    const char *end = line + strlen(line);
    if (!arrow || end[-1] != ':')
        return true;
    if (!GROW(&r->classes))
        return false;
    r->classes.rows[r->classes.count++] = (struct retrace_class){
        .name = place(r, line, arrow), .short_name = place(r, arrow + 4, end - 1), .first = (uint32_t)r->members.count};
    return true;
}

/* "1:3:" in front of a type. An invalid range is ignored. Returns false if the text is no range. */
static bool take_lines(struct retrace_member *member, const char **at)
{
    if (!take_number(&member->from, at))
        return true;
    if (*(*at)++ != ':' || !take_number(&member->to, at) || *(*at)++ != ':')
        return false;
    member->has_lines = member->from <= member->to;
    return true;
}

/* ":40:42", ":40", or nothing, after the parameters. */
static void take_source_lines(struct retrace_member *member, const char *at)
{
    if (*at++ != ':' || !take_number(&member->source_from, &at))
        return;
    member->source_to = member->source_from;
    if (*at++ == ':')
        (void)take_number(&member->source_to, &at);
    member->has_source = member->source_from <= member->source_to;
}

/* "1:3:void x.Y.name(int):40:42 -> a": a method. A field has no parameters and is ignored. */
static bool take_member(struct mapping_reading *r, const char *line)
{
    struct retrace_member member = {.order = (uint32_t)r->members.count};
    const char *at = line + strspn(line, " \t");
    const char *parameters = strchr(at, '(');
    const char *close = parameters ? strchr(parameters, ')') : NULL;
    const char *arrow = close ? strstr(close, " -> ") : NULL;
    if (!arrow || !r->classes.count || !take_lines(&member, &at))
        return true;
    const char *name = at < parameters ? memchr(at, ' ', (size_t)(parameters - at)) : NULL; /* after the type */
    if (!name)
        return true;
    name++;
    const char *dot = memrchr(name, '.', (size_t)(parameters - name));
    member.class_name = place(r, name, dot ? dot : name);
    member.name = place(r, dot ? dot + 1 : name, parameters);
    member.short_name = place(r, arrow + 4, arrow + 4 + strcspn(arrow + 4, " \t"));
    member.signature = place(r, at, close + 1);
    take_source_lines(&member, close + 1);
    if (!member.name.len || !member.short_name.len)
        return true;
    if (!GROW(&r->members) || r->members.count >= UINT32_MAX - 1)
        return false;
    r->members.rows[r->members.count++] = member;
    r->classes.rows[r->classes.count - 1].count++;
    return true;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* Skip the key, its quote and its colon. NULL: not that key. */
static const char *skip_key(const char *remark, const char *at, const char *key)
{
    bool begins = at > remark && (is_quote(at[-1]) || strchr("{, \t", at[-1]));
    at += strlen(key);
    at += is_quote(*at);
    at += strspn(at, " \t");
    if (!begins || *at++ != ':')
        return NULL;
    return at + strspn(at, " \t");
}

bool retrace_value(const char **at, const char **end, const char *remark, const char *key)
{
    const char *value = NULL;
    for (const char *found = strstr(remark, key); found && !value; found = strstr(found + 1, key))
        value = skip_key(remark, found, key);
    if (!value)
        return false;
    bool quoted = is_quote(*value);
    const char *last = NULL;
    if (quoted)
        last = strchr(value + 1, *value);
    else if (*value == '{')
        last = strchr(value, '}');
    *at = value + quoted;
    *end = last ? last + !quoted : NULL;
    return last != NULL;
}

static struct place_of_text value_of(const struct mapping_reading *r, const char *remark, const char *key)
{
    const char *at, *end;
    bool has = retrace_value(&at, &end, remark, key);
    return place(r, has ? at : remark, has ? end : remark);
}

static bool says(const struct mapping_reading *r, const struct place_of_text *place, const char *text)
{
    return place->len == strlen(text) && !memcmp(r->texts + place->at, text, place->len);
}

/* A remark applies to the class or member on the line before it. */
static void take_remark(struct mapping_reading *r, const char *remark)
{
    if (!r->classes.count)
        return;
    struct retrace_class *class = &r->classes.rows[r->classes.count - 1];
    struct retrace_member *member = class->count ? &r->members.rows[r->members.count - 1] : NULL;
    struct place_of_text id = value_of(r, remark, "id");
    if (says(r, &id, "sourceFile"))
        class->file = value_of(r, remark, "fileName");
    if (!member)
        return;
    member->synthesized |= says(r, &id, "com.android.tools.r8.synthesized");
    member->outline |= says(r, &id, "com.android.tools.r8.outline");
    if (says(r, &id, "com.android.tools.r8.outlineCallsite"))
        member->positions = value_of(r, remark, "positions");
    if (says(r, &id, "com.android.tools.r8.rewriteFrame")) {
        const char *first = member->rewrite.len ? r->texts + member->rewrite.at : remark;
        member->rewrite = place(r, first, remark + strlen(remark));
    }
}

/* Texts are compared in place; qsort_r passes their address. */
static int by_text(const struct place_of_text *x, const struct place_of_text *y, const char *texts)
{
    return retrace_compare(&(struct piece_of_text){texts + x->at, x->len},
                           &(struct piece_of_text){texts + y->at, y->len});
}

static int by_short_name(const void *a, const void *b, void *texts)
{
    const struct retrace_class *x = a, *y = b;
    int order = by_text(&x->short_name, &y->short_name, texts);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static int by_method(const void *a, const void *b, void *texts)
{
    const struct retrace_member *x = a, *y = b;
    int order = by_text(&x->short_name, &y->short_name, texts);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_name(const void *a, const void *b, void *reading)
{
    const struct mapping_reading *r = reading;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = by_text(&r->classes.rows[x].name, &r->classes.rows[y].name, r->texts);
    return order ? order : (x > y) - (x < y);
}

/* If one row of a method is synthesized or an outline, mark all its rows. */
static void spread_remarks(const struct mapping_reading *r, struct retrace_member *first,
                           const struct retrace_member *end)
{
    for (struct retrace_member *row = first; row < end; row++) {
        if (!row->synthesized && !row->outline)
            continue;
        for (struct retrace_member *other = first; other < end; other++) {
            if (by_text(&other->signature, &row->signature, r->texts) != 0)
                continue;
            other->synthesized |= row->synthesized;
            other->outline |= row->outline;
        }
    }
}

static void sort_members(const struct mapping_reading *r, const struct retrace_class *class)
{
    struct retrace_member *row = r->members.rows + class->first, *end = row + class->count;
    if (class->count)
        qsort_r(row, class->count, sizeof *row, by_method, (void *)(uintptr_t)r->texts);
    for (struct retrace_member *next; row < end; row = next) {
        bool any = false;
        for (next = row; next < end && by_text(&next->short_name, &row->short_name, r->texts) == 0; next++)
            any |= next->synthesized || next->outline;
        if (any && next - row < SPREAD_MAX)
            spread_remarks(r, row, next);
    }
}

/* Sort the classes by source name. Returns false out of memory. */
static bool sort_names(uint32_t **out, const struct mapping_reading *r)
{
    size_t count = r->classes.count;
    uint32_t *names = calloc(count ? count : 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = (uint32_t)i;
    if (names && count)
        qsort_r(names, count, sizeof *names, by_name, (void *)(uintptr_t)r);
    *out = names;
    return names != NULL;
}

static void hand_over(struct retrace *out, const struct mapping_reading *r)
{
    out->head.class_count = (uint32_t)r->classes.count;
    out->head.member_count = (uint32_t)r->members.count;
    out->head.number_count = (uint32_t)r->numbers.count;
    out->head.text_bytes = (uint32_t)(r->end - r->texts);
    out->classes = r->classes.rows;
    out->members = r->members.rows;
    out->numbers = r->numbers.rows;
    out->texts = r->texts;
}

bool retrace_read_mapping(struct retrace *out, const struct section *text)
{
    struct mapping_reading reading = {.texts = (const char *)text->bytes, .end = (const char *)text->bytes + text->len};
    struct mapping_reading *r = &reading;
    uint32_t *names = NULL;
    bool good = true;
    for (const char *line = r->texts; line < r->end && good; line += strlen(line) + 1) {
        const char *begin = line + strspn(line, " \t");
        if (*begin == '#')
            take_remark(r, begin);
        else if (begin > line)
            good = take_member(r, line);
        else if (*begin)
            good = take_class(r, line);
    }
    for (size_t i = 0; i < r->classes.count; i++)
        sort_members(r, &r->classes.rows[i]);
    if (r->classes.count)
        qsort_r(r->classes.rows, r->classes.count, sizeof *r->classes.rows, by_short_name, (void *)(uintptr_t)r->texts);
    good = good && sort_names(&names, r);
    out->names = names;
    hand_over(out, r);
    return good;
}

static int by_number(const void *a, const void *b)
{
    const struct retrace_number *x = a;
    const struct retrace_number *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* "12,9,com.example.Main,onCreate,(I)V" */
bool retrace_read_methods(struct retrace *out, const struct section *text)
{
    struct mapping_reading reading = {.texts = (const char *)text->bytes, .end = (const char *)text->bytes + text->len};
    struct mapping_reading *r = &reading;
    bool good = true;
    for (const char *line = r->texts; line < r->end && good; line += strlen(line) + 1) {
        const char *at = line;
        uint32_t number;
        const char *class = take_number(&number, &at) && *at == ',' ? strchr(at + 1, ',') : NULL;
        const char *method = class ? strchr(class + 1, ',') : NULL;
        if (!method)
            continue;
        good = GROW(&r->numbers);
        if (good)
            r->numbers.rows[r->numbers.count++] = (struct retrace_number){
                number, place(r, class + 1, method), place(r, method + 1, method + 1 + strcspn(method + 1, ","))};
    }
    if (r->numbers.count)
        qsort(r->numbers.rows, r->numbers.count, sizeof *r->numbers.rows, by_number);
    hand_over(out, r);
    return good;
}
