/*
 * document_context.c - the section "context": what the app told of the moment. The blackbox may be that of a dead
 * process, and damaged.
 */
#include "report/document.h"
#include "report/left_out.h"

#include <limits.h>
#include <string.h>

static const char *const states[MIRE_APP_STATES] = {"", "foreground", "visible", "perceptible", "background"};

static void write_user(struct wire *wire, const struct context *app)
{
    char user[MIRE_CONTEXT_TEXT_BYTES];

    mire__context_as_text(user, &app->user);
    if (!user[0] || !user[1])
        return;
    mire__wire_text(wire, MIRE_NAME_USER, user + 1, sizeof(user) - 1);
    mire__wire_bool(wire, MIRE_NAME_USER_HASHED, user[0] == MIRE_CONTEXT_HASHED);
}

/* A name stands once in a document. */
static bool is_first(const char *name, const struct context *app, uint32_t row)
{
    char other[MIRE_CONTEXT_NAME_BYTES], value[MIRE_CONTEXT_TEXT_BYTES];

    for (uint32_t i = 0; i < row; i++)
        if (mire__context_as_tag(other, value, app, i) && strcmp(other, name) == 0)
            return false;
    return true;
}

/* The tag in a row, if it goes into the document. */
static bool has_tag(char name[MIRE_CONTEXT_NAME_BYTES], char value[MIRE_CONTEXT_TEXT_BYTES], const struct context *app,
                    uint32_t row, const struct left_out *left_out)
{
    return mire__context_as_tag(name, value, app, row) && mire__context_is_name(name) &&
           !mire__left_out_has_tag(left_out, name);
}

static void write_tags(struct wire *wire, const struct context *app, const struct left_out *left_out)
{
    char name[MIRE_CONTEXT_NAME_BYTES], value[MIRE_CONTEXT_TEXT_BYTES];
    bool any = false;

    for (uint32_t row = 0; row < MIRE_TAGS_MAX; row++) {
        if (!has_tag(name, value, app, row, left_out) || !is_first(name, app, row))
            continue;
        if (!any)
            mire__wire_object(wire, MIRE_NAME_TAGS);
        any = true;
        mire__wire_text(wire, name, value, sizeof(value));
    }
    if (any)
        mire__wire_end(wire);
}

static void write_crumbs(struct wire *wire, const struct context *app, uint64_t start_ns)
{
    const uint64_t first = mire__context_as_first(app);
    uint64_t at_ms[MIRE_CRUMBS_MAX], at_ns, latest_ns = start_ns;
    char text[MIRE_CRUMB_BYTES];
    bool there[MIRE_CRUMBS_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < MIRE_CRUMBS_MAX; i++) {
        there[i] = mire__context_as_crumb(text, &at_ns, app, first + i);
        if (!there[i])
            continue;
        latest_ns = at_ns > latest_ns ? at_ns : latest_ns; /* those of two threads at once may have changed places */
        at_ms[count++] = (latest_ns - start_ns) / MIRE_NS_PER_MS;
    }
    if (count == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_CRUMBS);
    mire__wire_u64_column(wire, MIRE_NAME_AT_MS, at_ms, count);
    mire__wire_array(wire, MIRE_NAME_TEXTS);
    for (uint32_t i = 0; i < MIRE_CRUMBS_MAX; i++) {
        if (!there[i])
            continue;
        if (!mire__context_as_crumb(text, &at_ns, app, first + i))
            text[0] = '\0'; /* overwritten since */
        mire__wire_text(wire, NULL, text, sizeof(text));
    }
    mire__wire_end(wire);
    mire__wire_end(wire);
}

enum part { STATE = 1, SCENE = 2, USER = 4, TAGS = 8, CRUMBS = 16 };

/* The parts that there are, and that are not left out: bits of enum part. */
static unsigned find_parts(const struct context *app, const struct left_out *left_out)
{
    char name[MIRE_CONTEXT_NAME_BYTES], text[MIRE_CONTEXT_TEXT_BYTES];
    unsigned parts = atomic_load(&app->state) % MIRE_APP_STATES != 0 ? STATE : 0;
    uint64_t at_ns;

    mire__context_as_text(text, &app->scene);
    parts |= text[0] ? SCENE : 0u;
    mire__context_as_text(text, &app->user);
    parts |= text[0] ? USER : 0u;
    for (uint32_t row = 0; row < MIRE_TAGS_MAX; row++)
        parts |= has_tag(name, text, app, row, left_out) ? TAGS : 0u;
    for (uint32_t i = 0; i < MIRE_CRUMBS_MAX; i++)
        parts |= mire__context_as_crumb(text, &at_ns, app, mire__context_as_first(app) + i) ? CRUMBS : 0u;
    parts &= mire__left_out_has(left_out, "state") ? ~(unsigned)STATE : UINT_MAX;
    parts &= mire__left_out_has(left_out, "scene") ? ~(unsigned)SCENE : UINT_MAX;
    parts &= mire__left_out_has(left_out, "user") ? ~(unsigned)USER : UINT_MAX;
    parts &= mire__left_out_has(left_out, "crumbs") ? ~(unsigned)CRUMBS : UINT_MAX;
    return parts;
}

void mire__document_context(struct wire *wire, const struct context *app, const struct blackbox_facts *facts)
{
    char scene[MIRE_CONTEXT_TEXT_BYTES];
    struct left_out left_out;
    uint32_t state = app ? atomic_load(&app->state) % MIRE_APP_STATES : 0;
    unsigned parts;

    mire__left_out_get(&left_out);
    parts = app ? find_parts(app, &left_out) : 0;
    if (parts == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_CONTEXT);
    if (parts & STATE && state != 0)
        mire__wire_text(wire, MIRE_NAME_STATE, states[state], SIZE_MAX);
    if (parts & SCENE) {
        mire__context_as_text(scene, &app->scene);
        MIRE_TEXT_IF_ANY(wire, MIRE_NAME_SCENE, scene);
    }
    if (parts & USER)
        write_user(wire, app);
    if (parts & TAGS)
        write_tags(wire, app, &left_out);
    if (parts & CRUMBS)
        write_crumbs(wire, app, facts->start_mono_ns);
    mire__wire_end(wire);
}
