/*
 * retrace_read.c - lines of mappings. A remark is about the class or member on the line before it.
 */
#include "symbols/retrace_inside.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_NUMBER 0x7fffffffu

int retrace_compare(const struct piece_of_text *a, const struct piece_of_text *b)
{
    int order = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static struct piece_of_text piece(const char *from, const char *to)
{
    return (struct piece_of_text){from, to > from && to - from < INT32_MAX ? (uint32_t)(to - from) : 0};
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
static bool take_class(struct retrace *r, const char *line)
{
    const char *arrow = strstr(line, " -> ");
    const char *end = line + strlen(line);
    if (!arrow || end[-1] != ':')
        return true;
    if (!GROW(&r->classes))
        return false;
    r->classes.rows[r->classes.count++] = (struct retrace_class){
        .name = piece(line, arrow), .short_name = piece(arrow + 4, end - 1), .first = (uint32_t)r->members.count};
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
static bool take_member(struct retrace *r, const char *line)
{
    struct retrace_member member = {0};
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
    member.class_name = dot ? piece(name, dot) : (struct piece_of_text){name, 0};
    member.name = piece(dot ? dot + 1 : name, parameters);
    member.short_name = piece(arrow + 4, arrow + 4 + strcspn(arrow + 4, " \t"));
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
static struct piece_of_text value_of(const char *remark, const char *key, char open, char close)
{
    const char *at = strstr(remark, key);
    at = at ? strchr(at + strlen(key), open) : NULL;
    const char *end = at ? strchr(at + 1, close) : NULL;
    return end ? piece(at + 1, end) : (struct piece_of_text){remark, 0};
}

static void take_remark(struct retrace *r, const char *remark)
{
    if (!r->classes.count)
        return;
    struct retrace_class *class = &r->classes.rows[r->classes.count - 1];
    struct retrace_member *member = class->count ? &r->members.rows[r->members.count - 1] : NULL;
    struct piece_of_text id = value_of(remark, "\"id\":", '"', '"');
    if (id.len == 10 && !memcmp(id.at, "sourceFile", 10))
        class->file = value_of(remark, "\"fileName\":", '"', '"');
    if (!member || id.len < 21 || memcmp(id.at, "com.android.tools.r8.", 21) != 0)
        return;
    struct piece_of_text what = {id.at + 21, id.len - 21};
    member->synthesized |= what.len == 11 && !memcmp(what.at, "synthesized", 11);
    member->outline |= what.len == 7 && !memcmp(what.at, "outline", 7);
    if (what.len == 15 && !memcmp(what.at, "outlineCallsite", 15))
        member->positions = value_of(remark, "\"positions\":", '{', '}');
}

static int by_short_name(const void *a, const void *b)
{
    const struct retrace_class *x = a;
    const struct retrace_class *y = b;
    return retrace_compare(&x->short_name, &y->short_name);
}

bool retrace_read_mapping(struct retrace *r, const struct section *text)
{
    const char *end = (const char *)text->bytes + text->len;
    bool good = true;
    for (const char *line = (const char *)text->bytes; line < end && good; line += strlen(line) + 1) {
        const char *begin = line + strspn(line, " \t");
        if (*begin == '#')
            take_remark(r, begin);
        else if (begin > line)
            good = take_member(r, line);
        else if (*begin)
            good = take_class(r, line);
    }
    if (r->classes.count)
        qsort(r->classes.rows, r->classes.count, sizeof *r->classes.rows, by_short_name);
    return good;
}

static int by_number(const void *a, const void *b)
{
    const struct retrace_number *x = a;
    const struct retrace_number *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* "12,9,com.example.Main,onCreate,(I)V" */
bool retrace_read_methods(struct retrace *r, const struct section *text)
{
    const char *end = (const char *)text->bytes + text->len;
    for (const char *line = (const char *)text->bytes; line < end; line += strlen(line) + 1) {
        const char *at = line;
        uint32_t number;
        const char *class = take_number(&number, &at) && *at == ',' ? strchr(at + 1, ',') : NULL;
        const char *method = class ? strchr(class + 1, ',') : NULL;
        if (!method)
            continue;
        if (!GROW(&r->numbers))
            return false;
        r->numbers.rows[r->numbers.count++] = (struct retrace_number){
            number, piece(class + 1, method), piece(method + 1, method + 1 + strcspn(method + 1, ","))};
    }
    if (r->numbers.count)
        qsort(r->numbers.rows, r->numbers.count, sizeof *r->numbers.rows, by_number);
    return true;
}
