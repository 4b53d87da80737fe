/*
 * retrace_read.c - lines of mappings. A remark is about the class or member on the line before it.
 */
#include "symbols/retrace_inside.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_NUMBER 0x7fffffffu

struct reading {
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

/* Of a file of at most MIRE_OBJECT_FILE_MAX bytes. */
static struct place_of_text place(const struct reading *r, const char *from, const char *to)
{
    return (struct place_of_text){(uint32_t)(from - r->texts), to > from ? (uint32_t)(to - from) : 0};
}

/* Digits at *at, which moves behind them; false: there are none, or too many. */
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
static bool take_class(struct reading *r, const char *line)
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

/* ":40:42", ":40", or nothing, behind the parameters. */
static void take_source_lines(struct retrace_member *member, const char *at, const char *arrow)
{
    if (*at++ != ':' || !take_number(&member->source_from, &at))
        return;
    member->source_to = member->source_from;
    if (*at++ == ':' && at < arrow)
        (void)take_number(&member->source_to, &at);
}

/* "1:3:void x.Y.name(int):40:42 -> a": a method; a field has no parameters and is of no use. */
static bool take_member(struct reading *r, const char *line)
{
    struct retrace_member member = {.source_from = MIRE_RETRACE_SAME};
    const char *at = line + strspn(line, " \t");
    const char *parameters = strchr(at, '(');
    const char *close = parameters ? strchr(parameters, ')') : NULL;
    const char *arrow = close ? strstr(close, " -> ") : NULL;
    if (!arrow || !r->classes.count)
        return true;
    if (take_number(&member.from, &at)) {
        if (*at++ != ':' || !take_number(&member.to, &at) || *at++ != ':')
            return true;
    }
    const char *name = memchr(at, ' ', (size_t)(parameters - at)); /* behind the type */
    if (!name)
        return true;
    name++;
    const char *dot = memrchr(name, '.', (size_t)(parameters - name));
    member.class_name = place(r, name, dot ? dot : name);
    member.name = place(r, dot ? dot + 1 : name, parameters);
    member.short_name = place(r, arrow + 4, arrow + 4 + strcspn(arrow + 4, " \t"));
    take_source_lines(&member, close + 1, arrow);
    if (!member.name.len || !member.short_name.len)
        return true;
    if (!GROW(&r->members) || r->members.count >= UINT32_MAX - 1)
        return false;
    r->members.rows[r->members.count++] = member;
    r->classes.rows[r->classes.count - 1].count++;
    return true;
}

/* The text behind "key": in a remark, up to its closing quote or bracket; len 0: it has none. */
static struct place_of_text value_of(const struct reading *r, const char *remark, const char *key, char open,
                                     char close)
{
    const char *at = strstr(remark, key);
    at = at ? strchr(at + strlen(key), open) : NULL;
    const char *end = at ? strchr(at + 1, close) : NULL;
    return place(r, end ? at + 1 : remark, end ? end : remark);
}

static bool says(const struct reading *r, const struct place_of_text *place, const char *text)
{
    return place->len == strlen(text) && !memcmp(r->texts + place->at, text, place->len);
}

static void take_remark(struct reading *r, const char *remark)
{
    if (!r->classes.count)
        return;
    struct retrace_class *class = &r->classes.rows[r->classes.count - 1];
    struct retrace_member *member = class->count ? &r->members.rows[r->members.count - 1] : NULL;
    struct place_of_text id = value_of(r, remark, "\"id\":", '"', '"');
    if (says(r, &id, "sourceFile"))
        class->file = value_of(r, remark, "\"fileName\":", '"', '"');
    if (!member)
        return;
    member->synthesized |= says(r, &id, "com.android.tools.r8.synthesized");
    member->outline |= says(r, &id, "com.android.tools.r8.outline");
    if (says(r, &id, "com.android.tools.r8.outlineCallsite"))
        member->positions = value_of(r, remark, "\"positions\":", '{', '}');
}

static int by_short_name(const void *a, const void *b, void *texts)
{
    const struct place_of_text *x = &((const struct retrace_class *)a)->short_name;
    const struct place_of_text *y = &((const struct retrace_class *)b)->short_name;
    return retrace_compare(&(struct piece_of_text){(const char *)texts + x->at, x->len},
                           &(struct piece_of_text){(const char *)texts + y->at, y->len});
}

static void hand_over(struct retrace *out, const struct reading *r)
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
    struct reading reading = {.texts = (const char *)text->bytes, .end = (const char *)text->bytes + text->len};
    struct reading *r = &reading;
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
    if (r->classes.count)
        qsort_r(r->classes.rows, r->classes.count, sizeof *r->classes.rows, by_short_name, (void *)(uintptr_t)r->texts);
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
    struct reading reading = {.texts = (const char *)text->bytes, .end = (const char *)text->bytes + text->len};
    struct reading *r = &reading;
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
