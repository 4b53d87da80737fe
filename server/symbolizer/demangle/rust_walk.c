/* rust_walk.c - see rust_walk.h. */
#include "demangle/rust_walk.h"
#include "demangle/punycode.h"

uint64_t walk_base_62(struct walk *w)
{
    uint64_t value = 0;
    if (walk_take(w, '_'))
        return 0;
    for (char c; !walk_stopped(w) && (c = walk_next(w)) != '_';) {
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 10
                    : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                           : -1;
        w->bad |= digit < 0 || value > (UINT64_MAX - 61) / 62;
        value = value * 62 + (uint64_t)(digit < 0 ? 0 : digit);
    }
    return value + 1;
}

uint64_t walk_announced(struct walk *w, char letter)
{
    return walk_take(w, letter) ? walk_base_62(w) + 1 : 0;
}

void walk_back(struct walk *w, void (*walk)(struct walk *w))
{
    const char *from = w->at - 1;
    uint64_t to = walk_base_62(w);
    const char *after = w->at;
    if (walk_stopped(w) || w->silent)
        return;
    if (to >= (uint64_t)(from - w->begin)) {
        w->bad = true;
        return;
    }
    w->at = w->begin + to;
    walk(w);
    w->at = after;
}

struct identifier walk_identifier(struct walk *w)
{
    struct identifier id = {.disambiguator = walk_announced(w, 's')};
    size_t len = 0;
    id.punycode = walk_take(w, 'u');
    if (w->at < w->end && *w->at == '0')
        w->at++;
    else
        while (w->at < w->end && *w->at >= '0' && *w->at <= '9' && len < (1u << 20))
            len = len * 10 + (size_t)(*w->at++ - '0');
    (void)walk_take(w, '_');
    if (len > (size_t)(w->end - w->at)) {
        w->bad = true;
        return id;
    }
    id.text = w->at;
    id.len = len;
    w->at += len;
    return id;
}

/* Letters beyond ASCII. Returns false if they are invalid. */
static bool put_letters(struct walk *w, const struct identifier *id)
{
    uint32_t points[MIRE_PUNYCODE_MAX], count;
    if (!punycode_read(points, &count, id->text, id->len))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (points[i] >= 0xd800 && points[i] < 0xe000)
            return false;
    for (uint32_t i = 0; i < count; i++) {
        char bytes[4];
        walk_bytes(w, bytes, (size_t)(punycode_put(bytes, points[i]) - bytes));
    }
    return true;
}

void walk_put_identifier(struct walk *w, const struct identifier *id)
{
    if (id->punycode && put_letters(w, id))
        return;
    if (id->punycode)
        walk_put(w, "punycode{");
    walk_bytes(w, id->text, id->len);
    if (id->punycode)
        walk_put(w, "}");
}
