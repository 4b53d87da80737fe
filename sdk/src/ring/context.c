/* context.c - see context.h. Signal-safe: stores into the caller's memory only. */
#include "ring/context.h"

#include <string.h>

static void store(_Atomic char *to, size_t cap_bytes, const char *text)
{
    size_t i = 0;

    for (; i + 1 < cap_bytes && text[i]; i++)
        atomic_store_explicit(&to[i], text[i], memory_order_relaxed);
    atomic_store_explicit(&to[i], '\0', memory_order_relaxed);
}

static void load(char *out, size_t cap_bytes, const _Atomic char *from)
{
    size_t i = 0;

    for (; i + 1 < cap_bytes && (out[i] = atomic_load_explicit(&from[i], memory_order_relaxed)); i++) {
    }
    out[i] = '\0';
}

static bool is(const _Atomic char *field, size_t cap_bytes, const char *text)
{
    char have[MIRE_CONTEXT_TEXT_BYTES];

    load(have, cap_bytes, field);
    return strcmp(have, text) == 0;
}

/* At most `most`. */
static size_t length_within(const char *text, size_t most)
{
    size_t length = 0;

    while (length < most && text[length])
        length++;
    return length;
}

bool mire__context_is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = length_within(name, MIRE_CONTEXT_NAME_BYTES);

    for (size_t i = 0; i < length; i++)
        if (!memchr(letters, name[i], sizeof(letters) - 1))
            return false;
    return length > 0 && length < MIRE_CONTEXT_NAME_BYTES;
}

/* Bytes of the UTF-8 character that begins so; 1 for a byte that begins none. */
static size_t length_by_first(unsigned char first)
{
    if (first < 0xc0 || first >= 0xf8)
        return 1;
    return 2u + (first >= 0xe0) + (first >= 0xf0);
}

void mire__context_as_clean(char *out, size_t cap_bytes, const char *text)
{
    size_t length = length_within(text, cap_bytes), whole = 0;

    if (length == cap_bytes) {
        length = cap_bytes - 1;
        while (whole < length && whole + length_by_first((unsigned char)text[whole]) <= length)
            whole += length_by_first((unsigned char)text[whole]);
        length = whole;
    }
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i];
    out[length] = '\0';
}

void mire__context_as_set(struct context_text *to, const char *text)
{
    uint32_t next = atomic_load_explicit(&to->version, memory_order_relaxed) + 1;

    store(to->copies[next % 2], MIRE_CONTEXT_TEXT_BYTES, text);
    atomic_store_explicit(&to->version, next, memory_order_release);
}

/* Returns the version of the text. */
static uint32_t read_text(char out[MIRE_CONTEXT_TEXT_BYTES], const struct context_text *from)
{
    uint32_t version, after = atomic_load_explicit(&from->version, memory_order_acquire);

    do {
        version = after;
        load(out, MIRE_CONTEXT_TEXT_BYTES, from->copies[version % 2]);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&from->version, memory_order_relaxed);
    } while (after != version);
    return version;
}

void mire__context_as_text(char out[MIRE_CONTEXT_TEXT_BYTES], const struct context_text *from)
{
    read_text(out, from);
}

static bool is_free(const struct context_tag *tag)
{
    return is(tag->value.copies[atomic_load_explicit(&tag->value.version, memory_order_relaxed) % 2],
              MIRE_CONTEXT_TEXT_BYTES, "");
}

/* The tag's row, otherwise a free one; NULL if there is neither. */
static struct context_tag *find_tag(struct context *context, const char *name)
{
    struct context_tag *unused = NULL;

    for (uint32_t row = 0; row < MIRE_TAGS_MAX; row++) {
        struct context_tag *tag = &context->tags[row];

        if (is_free(tag))
            unused = unused ? unused : tag;
        else if (is(tag->name, MIRE_CONTEXT_NAME_BYTES, name))
            return tag;
    }
    return unused;
}

bool mire__context_as_set_tag(struct context *context, const char *name, const char *value)
{
    struct context_tag *tag = find_tag(context, name);

    if (!tag || (!value[0] && is_free(tag)))
        return !value[0];
    if (is_free(tag))
        store(tag->name, MIRE_CONTEXT_NAME_BYTES, name);
    mire__context_as_set(&tag->value, value);
    return true;
}

bool mire__context_as_tag(char name[MIRE_CONTEXT_NAME_BYTES], char value[MIRE_CONTEXT_TEXT_BYTES],
                          const struct context *context, uint32_t row)
{
    const struct context_tag *tag = &context->tags[row];
    uint32_t version;

    do {
        version = read_text(value, &tag->value);
        load(name, MIRE_CONTEXT_NAME_BYTES, tag->name);
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&tag->value.version, memory_order_relaxed) != version);
    return value[0] != '\0' && name[0] != '\0';
}

bool mire__context_as_set_gauge(struct context *context, const char *name, uint64_t bytes, uint64_t count)
{
    for (uint32_t row = 0; row < MIRE_GAUGES_MAX; row++) {
        struct context_gauge *gauge = &context->gauges[row];
        bool used = atomic_load_explicit(&gauge->used, memory_order_relaxed) != 0;

        if (used && !is(gauge->name, MIRE_CONTEXT_NAME_BYTES, name))
            continue;
        if (!used)
            store(gauge->name, MIRE_CONTEXT_NAME_BYTES, name);
        atomic_store_explicit(&gauge->bytes, bytes, memory_order_relaxed);
        atomic_store_explicit(&gauge->count, count, memory_order_relaxed);
        atomic_store_explicit(&gauge->used, 1, memory_order_release);
        return true;
    }
    return false;
}

bool mire__context_as_gauge(char name[MIRE_CONTEXT_NAME_BYTES], uint64_t *bytes, uint64_t *count,
                            const struct context *context, uint32_t row)
{
    const struct context_gauge *gauge = &context->gauges[row];

    if (!atomic_load_explicit(&gauge->used, memory_order_acquire))
        return false;
    load(name, MIRE_CONTEXT_NAME_BYTES, gauge->name);
    *bytes = atomic_load_explicit(&gauge->bytes, memory_order_relaxed);
    *count = atomic_load_explicit(&gauge->count, memory_order_relaxed);
    return name[0] != '\0';
}

void mire__context_as_add(struct context *context, const char *text, uint64_t now_ns)
{
    uint64_t number = atomic_fetch_add(&context->crumb_count, 1) + 1;
    struct context_crumb *crumb = &context->crumbs[number % MIRE_CRUMBS_MAX];

    /* 64 others have come since that writer began: one of both is lost. */
    if (atomic_exchange_explicit(&crumb->writing, 1, memory_order_acquire))
        return;
    atomic_store_explicit(&crumb->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&crumb->at_ns, now_ns, memory_order_relaxed);
    store(crumb->text, MIRE_CRUMB_BYTES, text);
    atomic_store_explicit(&crumb->number, number, memory_order_release);
    atomic_store_explicit(&crumb->writing, 0, memory_order_release);
}

uint64_t mire__context_as_first(const struct context *context)
{
    uint64_t count = atomic_load_explicit(&context->crumb_count, memory_order_acquire);

    return count > MIRE_CRUMBS_MAX ? count - MIRE_CRUMBS_MAX + 1 : 1;
}

bool mire__context_as_crumb(char text[MIRE_CRUMB_BYTES], uint64_t *at_ns, const struct context *context,
                            uint64_t number)
{
    const struct context_crumb *crumb = &context->crumbs[number % MIRE_CRUMBS_MAX];

    if (atomic_load_explicit(&crumb->number, memory_order_acquire) != number)
        return false;
    *at_ns = atomic_load_explicit(&crumb->at_ns, memory_order_relaxed);
    load(text, MIRE_CRUMB_BYTES, crumb->text);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&crumb->number, memory_order_relaxed) == number;
}

static void copy_text(struct context_text *to, const struct context_text *from)
{
    char text[MIRE_CONTEXT_TEXT_BYTES];

    read_text(text, from);
    mire__context_as_set(to, text);
}

void mire__context_copy(struct context *to, const struct context *from)
{
    uint64_t end = atomic_load(&from->crumb_count) + 1, at_ns;
    char name[MIRE_CONTEXT_NAME_BYTES], text[MIRE_CONTEXT_TEXT_BYTES];
    uint64_t bytes, count;

    atomic_store(&to->state, atomic_load(&from->state));
    copy_text(&to->scene, &from->scene);
    copy_text(&to->user, &from->user);
    for (uint32_t row = 0; row < MIRE_TAGS_MAX; row++)
        if (mire__context_as_tag(name, text, from, row))
            mire__context_as_set_tag(to, name, text);
    for (uint32_t row = 0; row < MIRE_GAUGES_MAX; row++)
        if (mire__context_as_gauge(name, &bytes, &count, from, row))
            mire__context_as_set_gauge(to, name, bytes, count);
    for (uint64_t number = mire__context_as_first(from); number < end; number++)
        if (mire__context_as_crumb(text, &at_ns, from, number))
            mire__context_as_add(to, text, at_ns);
}
