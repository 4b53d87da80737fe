/*
 * imports.h - reads an input of any format as the door and `mire import` do: each report is written as a document of
 * Mire's own, and read back.
 */
#ifndef MIRE_TESTS_IMPORTS_H
#define MIRE_TESTS_IMPORTS_H

#include "decode/decode.h"
#include "decode/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMPORTS_MAX 64

struct imported {
    const char *bytes; /* the input, in pieces of `piece` bytes; 0: in one */
    size_t len, at, piece;
    bool go_on; /* behind what is refused */
    struct arena arena;
    size_t count, refused;
    const char *formats[IMPORTS_MAX];
    struct report *reports[IMPORTS_MAX]; /* as read back; NULL of Mire's own documents */
    char *texts[IMPORTS_MAX];            /* as written */
    enum decode_outcome outcome;
    struct decode_fault fault;
};

static inline long import_piece(void *context, void *out, size_t room)
{
    struct imported *r = context;
    size_t len = r->len - r->at < room ? r->len - r->at : room;
    len = r->piece && len > r->piece ? r->piece : len;
    memcpy(out, r->bytes + r->at, len);
    r->at += len;
    return (long)len;
}

static inline int import_take(void *context, const struct decode_found *found)
{
    struct imported *r = context;
    struct decode_fault fault;
    size_t len = found->len;
    char *text = NULL;
    if (r->count == IMPORTS_MAX)
        return 1;
    r->formats[r->count] = found->format;
    if (found->report) {
        assert_int_equal(report_write(&text, &len, found->report), 0);
        struct report *back = arena_alloc(&r->arena, sizeof *back);
        assert_non_null(back);
        if (decode_report(back, &r->arena, &fault, "mire", "identity", text, len) != MIRE_DECODE_OK)
            fail_msg("what was made of it is refused: %s %s", fault.path, fault.text);
        r->reports[r->count] = back;
    } else {
        text = strndup(found->text, len);
    }
    r->texts[r->count] = text ? arena_copy(&r->arena, text, len) : NULL;
    assert_non_null(r->texts[r->count]);
    free(text);
    r->count++;
    return 0;
}

static inline int import_refuse(void *context, enum decode_outcome outcome, const struct decode_fault *fault)
{
    struct imported *r = context;
    (void)outcome;
    (void)fault;
    r->refused++;
    return r->go_on ? 0 : 1;
}

/* import_done() is due. */
static inline void import_all(struct imported *out, const char *format, const void *bytes, size_t len, size_t piece,
                              bool go_on)
{
    *out = (struct imported){.bytes = bytes, .len = len, .piece = piece, .go_on = go_on};
    const struct decode_each each = {
        .format = format, .context = out, .read = import_piece, .found = import_take, .refused = import_refuse};
    arena_init(&out->arena, 512u << 20);
    out->outcome = decode_each(&out->fault, &each);
}

static inline void import_done(struct imported *r)
{
    arena_fini(&r->arena);
}

/* Both reads gave the same documents. */
static inline void assert_same_reports(const struct imported *a, const struct imported *b)
{
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->texts[i], b->texts[i]);
}

/* Text of a stack, innermost first: "f0 < f1 < f2"; a frame without a name is "image+offset". */
static inline const char *import_stack(struct imported *r, const struct report *report, uint32_t node)
{
    char *text = arena_alloc(&r->arena, 1 << 16);
    assert_non_null(text);
    for (; node; node = report->nodes[node].parent) {
        const struct report_frame *frame = &report->frames[report->nodes[node].frame];
        const struct report_image *image = frame->image < 0 ? NULL : &report->images[frame->image];
        size_t len = strlen(text);
        const char *before = len ? " < " : "";
        if (frame->names)
            snprintf(text + len, (1 << 16) - len, "%s%s", before, frame->names->function);
        else if (image && image->script[0])
            snprintf(text + len, (1 << 16) - len, "%s%s", before, report->scripts[frame->offset].function);
        else if (image && image->java)
            snprintf(text + len, (1 << 16) - len, "%s%s.%s", before, report->java[frame->offset].class_name,
                     report->java[frame->offset].method);
        else
            snprintf(text + len, (1 << 16) - len, "%s%s+%llu", before, image ? image->name : "",
                     (unsigned long long)frame->offset);
    }
    return text;
}

static inline bool import_notes(const struct report *report, const char *part)
{
    for (size_t i = 0; i < report->note_count; i++)
        if (strstr(report->notes[i], part))
            return true;
    return false;
}

/* Read a whole document that must be taken. Free with import_done or read_in_pieces. */
static inline void read_it(struct imported *out, const char *text)
{
    import_all(out, NULL, text, strlen(text), 0, false);
    if (out->outcome != MIRE_DECODE_OK)
        fail_msg("%zu %s: %s\n%s", out->fault.position, out->fault.path, out->fault.text, text);
}

/* The same in pieces of one byte. Frees both. */
static inline void read_in_pieces(struct imported *whole)
{
    struct imported other;
    import_all(&other, NULL, whole->bytes, whole->len, 1, false);
    assert_same_reports(whole, &other);
    import_done(&other);
    import_done(whole);
}

static inline const char *stack_of_weight(struct imported *r, uint32_t weight)
{
    const struct report *report = r->reports[0];
    for (size_t i = 0; i < report->event.sample_count; i++)
        if (report->event.samples[i].weight_ms == weight)
            return import_stack(r, report, report->event.samples[i].node);
    return "";
}

#endif
