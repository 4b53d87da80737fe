/*
 * left_out.c - see left_out.h. The words of a version lie in copy (version mod 2), so a reader never waits.
 */
#include "report/left_out.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define TAG "tag:"

static struct {
    _Atomic uint32_t version; /* stored last */
    _Atomic char copies[2][MIRE_WIRE_LEAVE_OUT_MAX + 1];
} now;

void mire__left_out_set(const char *words)
{
    uint32_t next = atomic_load_explicit(&now.version, memory_order_relaxed) + 1;
    size_t i = 0;

    for (; words[i] && i < MIRE_WIRE_LEAVE_OUT_MAX; i++)
        atomic_store_explicit(&now.copies[next % 2][i], words[i], memory_order_relaxed);
    atomic_store_explicit(&now.copies[next % 2][i], '\0', memory_order_relaxed);
    atomic_store_explicit(&now.version, next, memory_order_release);
}

void mire__left_out_get(struct left_out *out)
{
    uint32_t version, after = atomic_load_explicit(&now.version, memory_order_acquire);

    do {
        version = after;
        for (size_t i = 0; i < sizeof(out->words); i++)
            out->words[i] = atomic_load_explicit(&now.copies[version % 2][i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&now.version, memory_order_relaxed);
    } while (after != version);
}

/* Is a word that begins with `first` and goes on with `rest` among the words? */
static bool has(const struct left_out *left_out, const char *first, const char *rest)
{
    const size_t first_length = strlen(first), rest_length = strlen(rest);
    const char *at = left_out->words;

    while (*at) {
        size_t length = strcspn(at, " ");

        if (length == first_length + rest_length && memcmp(at, first, first_length) == 0 &&
            memcmp(at + first_length, rest, rest_length) == 0)
            return true;
        at += length;
        at += strspn(at, " ");
    }
    return false;
}

bool mire__left_out_has(const struct left_out *left_out, const char *word)
{
    return has(left_out, "", word);
}

bool mire__left_out_has_tag(const struct left_out *left_out, const char *name)
{
    bool flag = strncmp(name, MIRE_FLAG_PREFIX, sizeof(MIRE_FLAG_PREFIX) - 1) == 0;

    return has(left_out, "", "tags") || (flag && has(left_out, "", "flags")) || has(left_out, TAG, name);
}
