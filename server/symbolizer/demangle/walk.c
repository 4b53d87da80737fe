/* walk.c - see walk.h. */
#include "demangle/walk.h"

#include <string.h>

#define DEPTH_MAX 200
#define STEPS_MAX 20000

bool walk_stopped(const struct walk *w)
{
    return w->bad || w->cut;
}

void walk_bytes(struct walk *w, const char *text, size_t len)
{
    if (w->silent || walk_stopped(w))
        return;
    if (len > w->room - w->len) {
        len = w->room - w->len;
        w->cut = true;
    }
    memcpy(w->out + w->len, text, len);
    w->len += len;
}

void walk_put(struct walk *w, const char *text)
{
    walk_bytes(w, text, strlen(text));
}

void walk_number(struct walk *w, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    walk_bytes(w, digits + at, sizeof digits - at);
}

char walk_peek(const struct walk *w)
{
    return w->at < w->end && !walk_stopped(w) ? *w->at : '\0';
}

char walk_next(struct walk *w)
{
    if (w->at < w->end)
        return *w->at++;
    w->bad = true;
    return '\0';
}

bool walk_take(struct walk *w, char c)
{
    if (w->at >= w->end || *w->at != c)
        return false;
    w->at++;
    return true;
}

bool walk_enter(struct walk *w)
{
    if (++w->depth > DEPTH_MAX || ++w->steps > STEPS_MAX)
        w->cut = true;
    return !walk_stopped(w);
}
