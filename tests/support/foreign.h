/*
 * foreign.h - decodes foreign reports in tests from a text or a file, and checks their stacks. Include after cmocka.h.
 */
#ifndef MIRE_TESTS_FOREIGN_H
#define MIRE_TESTS_FOREIGN_H

#include "decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FOREIGN_DATA MIRE_SOURCE_DIR "/../shared/data/reports/" /* real files of other programs; optional */

typedef enum decode_outcome (*foreign_decoder)(struct report *out, struct arena *arena, struct decode_fault *fault,
                                               const char *bytes, size_t len);

struct foreign {
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    enum decode_outcome outcome;
};

static inline void foreign_read(struct foreign *out, foreign_decoder decoder, const void *bytes, size_t len)
{
    arena_init(&out->arena, MIRE_DECODE_ARENA_MAX);
    out->fault = (struct decode_fault){0};
    size_t room = len & 0x3fffffff;
    char *copy = malloc(room ? room : 1); /* exact size: a sanitizer finds a read beyond the end */
    assert_non_null(copy);
    if (room)
        memcpy(copy, bytes, room);
    out->outcome = decoder(&out->report, &out->arena, &out->fault, copy, room);
    free(copy); /* the report must not point into it */
}

static inline void foreign_good(struct foreign *out, foreign_decoder decoder, const void *bytes, size_t len)
{
    foreign_read(out, decoder, bytes, len);
    if (out->outcome)
        print_error("%s\n", out->fault.text);
    assert_int_equal(out->outcome, MIRE_DECODE_OK);
}

static inline void foreign_free(struct foreign *foreign)
{
    arena_fini(&foreign->arena);
}

/* Read a whole file, decompressed if it is gzip. NULL: not available, and the test is skipped. Owned by the caller. */
static inline char *foreign_file(size_t *len_out, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s", FOREIGN_DATA, name);
    gzFile file = gzopen(path, "rb");
    if (!file)
        return NULL;
    size_t room = 4 << 20;
    char *bytes = malloc(room);
    int got = bytes ? gzread(file, bytes, (unsigned)room) : -1;
    gzclose(file);
    assert_in_range(got, 0, room - 1);
    *len_out = (size_t)got;
    return bytes;
}

/* The name of a frame, `at` steps from the innermost: Java's name, the name in the report, or image+0x12. */
static inline const char *foreign_frame(struct foreign *foreign, uint32_t node, size_t at)
{
    const struct report *report = &foreign->report;
    for (; node && at > 0; at--)
        node = report->nodes[node].parent;
    if (!node)
        return "(no frame)";
    const struct report_frame *frame = &report->frames[report->nodes[node].frame];
    if (frame->image >= 0 && report->images[frame->image].java)
        return report_java_name(&foreign->arena, &report->java[frame->offset]);
    if (frame->names)
        return frame->names->function;
    return arena_printf(&foreign->arena, "%s+0x%llx", frame->image < 0 ? "" : report->images[frame->image].name,
                        (unsigned long long)frame->offset);
}

static inline size_t foreign_depth(const struct foreign *foreign, uint32_t node)
{
    size_t depth = 0;
    for (; node; node = foreign->report.nodes[node].parent)
        depth++;
    return depth;
}

/* Returns true if a note contains these words. */
static inline bool foreign_has_note(const struct foreign *foreign, const char *part)
{
    for (size_t i = 0; i < foreign->report.note_count; i++)
        if (strstr(foreign->report.notes[i], part))
            return true;
    return false;
}

/* Check the model's guarantees for every report: indices in range, valid texts. */
static inline void foreign_check(const struct foreign *foreign)
{
    const struct report *report = &foreign->report;
    assert_int_not_equal(report->node_count, 0);
    for (size_t i = 1; i < report->node_count; i++) {
        assert_true(report->nodes[i].parent < i);
        assert_true(report->nodes[i].frame < report->frame_count);
    }
    for (size_t i = 0; i < report->frame_count; i++) {
        assert_in_range(report->frames[i].image + 1, 0, report->image_count);
        if (report->frames[i].image >= 0 && report->images[report->frames[i].image].java)
            assert_true(report->frames[i].offset < report->java_count);
    }
    for (size_t i = 0; i < report->thread_count; i++)
        assert_true(report->threads[i].node < report->node_count);
    for (size_t i = 0; i < report->event.sample_count; i++)
        assert_true(report->event.samples[i].node < report->node_count);
    for (size_t i = 0; i < report->memory.stack_count; i++) {
        assert_true(report->memory.stacks[i].node < report->node_count);
        assert_true(report->memory.stacks[i].category < report->memory.category_count);
    }
}

/* Decode every prefix, and the bytes with any one byte changed: they are read or refused. */
static inline void foreign_torture(foreign_decoder decoder, const char *bytes, size_t len, size_t step)
{
    struct foreign foreign;
    for (size_t cut = 0; cut < len; cut += step) {
        foreign_read(&foreign, decoder, bytes, cut);
        if (foreign.outcome == MIRE_DECODE_OK)
            foreign_check(&foreign);
        foreign_free(&foreign);
    }
    char *copy = malloc(len);
    assert_non_null(copy);
    for (size_t at = 0; at < len; at += step) {
        memcpy(copy, bytes, len);
        copy[at] = (char)(copy[at] ^ (1 << (at & 7)));
        foreign_read(&foreign, decoder, copy, len);
        if (foreign.outcome == MIRE_DECODE_OK)
            foreign_check(&foreign);
        foreign_free(&foreign);
    }
    free(copy);
}

#endif
