/*
 * context.h - the context that the app set (mire/context.h), as stored in the blackbox.
 *
 *     text        [ version | copy 0 | copy 1 ]     the copy of a version is version mod 2; the other one is written next
 *     breadcrumb  [ number | at_ns | text ]         number 0 while it is written; slot = number mod 64
 *
 * A reader therefore gets a whole text or breadcrumb, of a killed process too. Writers of texts: one at a time, which
 * core/context.c sees to. Writers of breadcrumbs: any thread, also in signal handlers. Readers: any.
 */
#ifndef MIRE_RING_CONTEXT_H
#define MIRE_RING_CONTEXT_H

#include "base/base.h"

#define MIRE_CONTEXT_TEXT_BYTES 128 /* with the zero byte, as the next two */
#define MIRE_CONTEXT_NAME_BYTES 33
#define MIRE_CRUMB_BYTES        96
#define MIRE_TAGS_MAX           40
#define MIRE_CRUMBS_MAX         64
#define MIRE_GAUGES_MAX         16

struct context_text {
    _Atomic uint32_t version; /* stored last */
    _Atomic char copies[2][MIRE_CONTEXT_TEXT_BYTES];
};

struct context_tag {
    _Atomic char name[MIRE_CONTEXT_NAME_BYTES]; /* changes only while the value is empty */
    struct context_text value;                  /* empty: the row is free */
};

struct context_crumb {
    _Atomic uint64_t number; /* counting from 1; 0: none, or half written */
    _Atomic uint64_t at_ns;  /* CLOCK_MONOTONIC */
    _Atomic uint32_t writing;
    _Atomic char text[MIRE_CRUMB_BYTES];
};

struct context_gauge {                          /* an amount of memory that the app measures */
    _Atomic char name[MIRE_CONTEXT_NAME_BYTES]; /* stored once, before `used` */
    _Atomic uint32_t used;
    _Atomic uint64_t bytes, count;
};

#define MIRE_CONTEXT_HASHED 'h'
#define MIRE_CONTEXT_PLAIN  'p'

/* The reports' words: unknown, foreground, visible, perceptible, background (enum mire_app_state). */
#define MIRE_APP_STATES 5

struct context {
    _Atomic uint32_t state;
    struct context_text scene;
    struct context_text user; /* behind one of the letters below */
    struct context_tag tags[MIRE_TAGS_MAX];
    struct context_gauge gauges[MIRE_GAUGES_MAX];
    _Atomic uint64_t crumb_count; /* ever begun */
    struct context_crumb crumbs[MIRE_CRUMBS_MAX];
};

/* Is it the name of a tag? See mire_set_tag. */
bool mire__context_is_name(const char *name);

/* Copy `text`, cut to the field, with spaces for control characters. It ends with a whole UTF-8 character. */
void mire__context_as_clean(char *out, size_t cap_bytes, const char *text);

/* Set a text, which is clean; "" empties it. */
void mire__context_as_set(struct context_text *to, const char *text);

/* The text; "" if it is empty. */
void mire__context_as_text(char out[MIRE_CONTEXT_TEXT_BYTES], const struct context_text *from);

/* Set or remove (value "") a tag. False: all rows are taken. */
bool mire__context_as_set_tag(struct context *context, const char *name, const char *value);

/* A row of tags. False: it is free. */
bool mire__context_as_tag(char name[MIRE_CONTEXT_NAME_BYTES], char value[MIRE_CONTEXT_TEXT_BYTES],
                          const struct context *context, uint32_t row);

/* Set a gauge, whose name is clean. False: all rows are taken. */
bool mire__context_as_set_gauge(struct context *context, const char *name, uint64_t bytes, uint64_t count);

/* A row of gauges. False: it is free. */
bool mire__context_as_gauge(char name[MIRE_CONTEXT_NAME_BYTES], uint64_t *bytes, uint64_t *count,
                            const struct context *context, uint32_t row);

/* Add a breadcrumb. */
void mire__context_as_add(struct context *context, const char *text, uint64_t now_ns);

/*
 * Read the breadcrumb with that number of those kept, oldest first. False: it is gone, or half written.
 *   number  counting from mire__context_as_first
 */
uint64_t mire__context_as_first(const struct context *context);
bool mire__context_as_crumb(char text[MIRE_CRUMB_BYTES], uint64_t *at_ns, const struct context *context,
                            uint64_t number);

/* Copy everything, for memory that nobody else writes yet. */
void mire__context_copy(struct context *to, const struct context *from);

#endif
