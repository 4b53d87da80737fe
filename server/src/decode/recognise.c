/*
 * recognise.c - the heads of files of foreign formats (formats.h). The head of a message may end within a field.
 */
#include "decode/formats.h"

#include "decode/lines.h"
#include "decode/proto.h"

#define LOOK_BYTES MIRE_FOREIGN_HEAD

static struct line_span look_at(const char *bytes, size_t len)
{
    return (struct line_span){bytes, len < LOOK_BYTES ? len : LOOK_BYTES};
}

bool anr_begins(const char *head, size_t len)
{
    const struct line_span text = look_at(head, len);
    return span_begins(&text, "----- pid ") || span_find(&text, "\n----- pid ") ||
           (span_begins(&text, "Subject: ") && span_find(&text, "--- CriticalEventLog ---"));
}

bool tombstone_text_begins(const char *head, size_t len)
{
    struct line_span text = look_at(head, len);
    while (span_take(&text, "\n") || span_take(&text, "\r") || span_take(&text, " ") || span_take(&text, "\t"))
        ;
    return span_begins(&text, "*** *** ***");
}

bool aei_begins(const char *head, size_t len)
{
    const struct line_span text = look_at(head, len);
    return span_find(&text, "ApplicationExitInfo #") || span_find(&text, "ApplicationExitInfo(");
}

bool heap_text_begins(const char *head, size_t len)
{
    const struct line_span text = look_at(head, len);
    struct text_lines lines = lines_of(text.at, text.len);
    struct line_span line;
    while (lines_next(&line, &lines)) {
        span_trim(&line);
        if (line.len && *line.at != '#')
            return span_begins(&line, "heap profile:");
    }
    return false;
}

/*
 * Are all fields of a message such ones? A letter a field from 1 on: v a number, b bytes, ? either, - none. The last one
 * may be cut.
 *
 *   seen_out  fields that are there, a bit each
 */
static bool fits(uint64_t *seen_out, struct proto message, const char *kinds)
{
    size_t count = strlen(kinds);
    struct proto_field field;

    *seen_out = 0;
    while (proto_next(&field, &message)) {
        char kind = field.number <= count ? kinds[field.number - 1] : '?';

        if (kind == '-' || (kind == 'v' && field.wire != PROTO_VARINT) || (kind == 'b' && field.wire != PROTO_BYTES))
            return false;
        *seen_out |= field.number < 64 ? UINT64_C(1) << field.number : 0;
    }
    return !message.wrong || message.cut;
}

/* The first field of a number; of a cut message what there is of it. */
static bool first_within(struct proto *out, struct proto message, uint32_t number)
{
    struct proto_field field;

    while (proto_next(&field, &message))
        if (field.number == number) {
            *out = proto_within(&message, &field);
            return true;
        }
    return false;
}

/* The first type of value: two numbers of texts. */
bool pprof_begins(const char *head, size_t len)
{
    struct proto message = proto_of(head, len), inner;
    uint64_t seen, members;

    if (!fits(&seen, message, "bbbbbbvvvvbv?v?"))
        return false;
    if (!(seen & 1 << 1))
        return (seen & 1 << 2) && first_within(&inner, message, 2) && fits(&members, inner, "??b") &&
               (members & 3 << 1);
    return first_within(&inner, message, 1) && fits(&members, inner, "vvv") && members;
}

/* The first field, a resource with profiles or the dictionary, however long it is. */
bool otlp_begins(const char *head, size_t len)
{
    uint64_t seen, members;
    size_t at = 1;

    if (len < 3 || (head[0] != 0x0a && head[0] != 0x12) || !fits(&seen, proto_of(head, len), "bb-"))
        return false;
    while (at < len && at < 6 && head[at] & 0x80)
        at++;
    return at + 1 < len && fits(&members, proto_of(head + at + 1, len - at - 1), "bbbbbbb");
}

/* A fingerprint, the process and the thread that crashed. */
bool tombstone_begins(const char *head, size_t len)
{
    uint64_t seen;

    return fits(&seen, proto_of(head, len), "vbbbvvvbbb---bbbbbbv") && (seen & 1 << 2) && (seen & 1 << 5) &&
           (seen & 1 << 6);
}
