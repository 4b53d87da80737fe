/* columns_write.c - writes what columns.h describes. */
#include "document/columns.h"

#include "base/hash.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 15 /* of an offset in a name, so that twice the offset has room for a bit more */

/* Values up to the last one that differs from the one before. */
#define COLUMN(w, rows, value)                                \
    do {                                                      \
        size_t length_ = (rows) > 0;                          \
        uint64_t before_ = 0;                                 \
        for (size_t i = 0; i < (rows); i++) {                 \
            uint64_t now_ = (uint64_t)(value);                \
            length_ = i && now_ != before_ ? i + 1 : length_; \
            before_ = now_;                                   \
        }                                                     \
        WHOLE(w, length_, value);                             \
    } while (0)

#define WHOLE(w, rows, value)                                                      \
    do {                                                                           \
        size_t rows_ = (rows);                                                     \
        unsigned char *begin_ = json_write_room(w, (rows_ + 1) * MIRE_VARINT_MAX); \
        unsigned char *at_ = begin_;                                               \
        if (!begin_)                                                               \
            return;                                                                \
        at_ += varint_put(at_, rows_);                                             \
        for (size_t i = 0; i < rows_; i++)                                         \
            at_ += varint_put(at_, (uint64_t)(value));                             \
        (w)->len += (size_t)(at_ - begin_);                                        \
    } while (0)

struct document_texts {
    uint32_t *slots; /* by hash: place in the list + 1 */
    size_t room;
    const char **list;
    size_t count;
    uint64_t *functions; /* per location, as columns.h has them */
    uint32_t *images, *files;
};

static uint32_t place_of(struct document_texts *texts, const char *text)
{
    size_t at = hash_for_table(0, text) & (texts->room - 1);
    while (texts->slots[at] && strcmp(texts->list[texts->slots[at] - 1], text) != 0)
        at = (at + 1) & (texts->room - 1);
    if (!texts->slots[at]) {
        texts->list[texts->count++] = text;
        texts->slots[at] = (uint32_t)texts->count;
    }
    return texts->slots[at] - 1;
}

/* Is the function called after its image and an offset? */
static bool is_bare(uint64_t *offset_out, const struct resolved_location *location)
{
    size_t len = strlen(location->image);
    const char *digits = location->function + len + 3;
    uint64_t offset = 0;

    if (!len || location->named || strncmp(location->function, location->image, len) != 0 ||
        strncmp(location->function + len, "+0x", 3) != 0)
        return false;
    size_t count = strspn(digits, "0123456789abcdef");
    if (!count || digits[count] || count > DIGITS_MAX || (digits[0] == '0' && count > 1))
        return false;
    for (size_t i = 0; i < count; i++)
        offset = offset << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
    *offset_out = offset;
    return true;
}

static void find_texts(struct document_texts *texts, const struct resolved *doc)
{
    for (size_t i = 0; i < doc->location_count; i++) {
        const struct resolved_location *location = &doc->locations[i];
        uint64_t offset;
        texts->images[i] = place_of(texts, location->image);
        texts->files[i] = place_of(texts, location->file);
        texts->functions[i] =
            is_bare(&offset, location) ? offset << 1 | 1 : (uint64_t)place_of(texts, location->function) << 1;
    }
}

static void write_texts(struct json_writer *w, const struct document_texts *texts)
{
    size_t all = 1;

    for (size_t i = 0; i < texts->count; i++)
        all += strlen(texts->list[i]) + 1;
    unsigned char *begin = json_write_room(w, all + (texts->count + 1) * MIRE_VARINT_MAX), *at = begin;
    if (!begin)
        return;
    at += varint_put(at, texts->count);
    for (size_t i = 0; i < texts->count; i++) {
        size_t len = strlen(texts->list[i]);
        at += varint_put(at, len);
        memcpy(at, texts->list[i], len);
        at += len;
    }
    w->len += (size_t)(at - begin);
}

/* Of a name that is made of it. */
static uint64_t offset_in(uint64_t function)
{
    return function & 1 ? function >> 1 : 0;
}

static void write_locations(struct json_writer *w, const struct resolved *doc, const struct document_texts *texts)
{
    const struct resolved_location *p = doc->locations;
    size_t rows = doc->location_count;

    WHOLE(w, rows, texts->functions[i]);
    COLUMN(w, rows, texts->images[i]);
    COLUMN(w, rows, texts->files[i]);
    COLUMN(w, rows, p[i].line);
    COLUMN(w, rows, columns_fold((int64_t)(p[i].offset - offset_in(texts->functions[i]))));
    COLUMN(w, rows, p[i].named | p[i].inlined << 1);
    COLUMN(w, rows, p[i].role);
    COLUMN(w, rows, p[i].rule);
    COLUMN(w, rows, p[i].mark);
}

static void write_nodes(struct json_writer *w, const struct resolved *doc)
{
    const struct resolved_node *n = doc->nodes + 1;
    size_t rows = doc->node_count - 1;

    WHOLE(w, rows, i - n[i].parent);
    COLUMN(w, rows, columns_fold((int64_t)n[i].location - (int64_t)(i ? n[i - 1].location : 0)));
}

static void write_samples(struct json_writer *w, const struct resolved *doc)
{
    const struct report_sample *s = doc->samples;
    size_t rows = doc->sample_count;

    WHOLE(w, rows, columns_fold((int64_t)s[i].at_ms - (int64_t)(i ? s[i - 1].at_ms : 0)));
    COLUMN(w, rows, s[i].weight_ms);
    COLUMN(w, rows, s[i].node);
    COLUMN(w, rows, (unsigned char)s[i].state);
    COLUMN(w, rows, columns_fold(s[i].syscall));
    COLUMN(w, rows, (unsigned char)s[i].loss);
    COLUMN(w, rows, s[i].folded);
    COLUMN(w, rows, s[i].skipped);
    COLUMN(w, rows, s[i].thread);
}

void columns_write(struct json_writer *w, const struct resolved *doc)
{
    struct document_texts texts = {.room = 16};
    size_t rows = doc->location_count;

    while (texts.room < rows * 6)
        texts.room *= 2;
    texts.slots = calloc(texts.room, sizeof *texts.slots);
    texts.list = calloc(rows * 3 + 1, sizeof *texts.list);
    texts.functions = calloc(rows + 1, sizeof *texts.functions);
    texts.images = calloc(2 * rows + 1, sizeof *texts.images);
    texts.files = texts.images + rows;
    if (texts.slots && texts.list && texts.functions && texts.images) {
        find_texts(&texts, doc);
        write_texts(w, &texts);
        write_locations(w, doc, &texts);
        write_nodes(w, doc);
        write_samples(w, doc);
    } else {
        w->failed = true;
    }
    free(texts.slots);
    free(texts.list);
    free(texts.functions);
    free(texts.images);
}
