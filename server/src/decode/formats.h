/*
 * formats.h - the table of formats. Inside decode/ only.
 */
#ifndef MIRE_DECODE_FORMATS_H
#define MIRE_DECODE_FORMATS_H

#include "decode/foreign.h"
#include "json/bind.h"

/*
 * A format is recognised by its content: by the first bytes of the input (begins), or, of a JSON value, by its members
 * (is). A format has one of three readers: document, whole or stream.
 */
struct format {
    const char *name;
    const char *media_type; /* of POST /api/v1/reports */
    const char *title;      /* for people */
    bool (*begins)(const char *head, size_t len);
    bool (*is)(const struct json *json);
    enum decode_outcome (*document)(struct foreign *foreign, const struct json *json);
    enum decode_outcome (*whole)(struct foreign *foreign, const char *bytes, size_t len);
    enum decode_outcome (*stream)(struct foreign *foreign, struct foreign_stream *stream);
    const char *ids; /* the format that has the same ids, because both describe the same events; NULL: none */
};

#define MIRE_FORMAT_MIRE "mire" /* Mire's own: documents are passed on unchanged */

extern const struct format formats[];
extern const size_t format_count;

/* The format of that name, NULL if there is none. */
const struct format *format_find(const char *name);

/* A recogniser and a reader for each row; files are named after their format. */
bool kscrash_is(const struct json *json);
enum decode_outcome kscrash_document(struct foreign *foreign, const struct json *json);
bool matrix_is(const struct json *json);
enum decode_outcome matrix_document(struct foreign *foreign, const struct json *json);
bool matrix_memory_is(const struct json *json);
enum decode_outcome matrix_memory_document(struct foreign *foreign, const struct json *json);
bool matrix_android_is(const struct json *json);
enum decode_outcome matrix_android_document(struct foreign *foreign, const struct json *json);
bool metrickit_is(const struct json *json);
enum decode_outcome metrickit_document(struct foreign *foreign, const struct json *json);
bool sentry_is(const struct json *json);
enum decode_outcome sentry_document(struct foreign *foreign, const struct json *json);
bool ips_begins(const char *head, size_t len);
enum decode_outcome ips_whole(struct foreign *foreign, const char *bytes, size_t len);
bool spindump_begins(const char *head, size_t len);
enum decode_outcome spindump_whole(struct foreign *foreign, const char *bytes, size_t len);
bool envelope_begins(const char *head, size_t len);
enum decode_outcome envelope_whole(struct foreign *foreign, const char *bytes, size_t len);

bool anr_begins(const char *head, size_t len);
enum decode_outcome anr_whole(struct foreign *foreign, const char *bytes, size_t len);
bool aei_begins(const char *head, size_t len);
enum decode_outcome aei_whole(struct foreign *foreign, const char *bytes, size_t len);
bool tombstone_begins(const char *head, size_t len);
enum decode_outcome tombstone_whole(struct foreign *foreign, const char *bytes, size_t len);
bool tombstone_text_begins(const char *head, size_t len);
enum decode_outcome tombstone_text_whole(struct foreign *foreign, const char *bytes, size_t len);
bool pprof_begins(const char *head, size_t len);
enum decode_outcome pprof_whole(struct foreign *foreign, const char *bytes, size_t len);
bool heap_text_begins(const char *head, size_t len);
enum decode_outcome heap_text_whole(struct foreign *foreign, const char *bytes, size_t len);
bool otlp_begins(const char *head, size_t len);
enum decode_outcome otlp_whole(struct foreign *foreign, const char *bytes, size_t len);

/* Mire's own format: mire.c. */
enum bind_outcome mire_read(struct report *out, struct bind *bind);

#endif
