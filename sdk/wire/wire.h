/*
 * wire.h - writes a report's JSON into the caller's memory.
 *
 *     struct wire w;
 *     mire__wire_begin(&w, buffer, sizeof(buffer));
 *     mire__wire_object(&w, NULL);
 *     mire__wire_u64(&w, MIRE_NAME_MIRE, MIRE_WIRE_VERSION);
 *     mire__wire_end(&w);
 *     if (mire__wire_finish(&length, &w) == MIRE_WIRE_DONE) ...
 *
 * The writer allocates nothing. After the first failure all calls have no effect, so only the result of
 * mire__wire_finish must be checked. The output is a valid beginning of JSON in UTF-8 at any time.
 *
 * Every value has a `key`: its name inside an object, NULL inside an array and at the top. Keys are plain ASCII without
 * quotes and backslashes, and are not checked.
 *
 * Thread: one at a time per writer.  Signal handler: yes.
 */
#ifndef MIRE_WIRE_WIRE_H
#define MIRE_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/limits.h"
#include "wire/names.h"

enum wire_state {
    MIRE_WIRE_DONE = 0,
    MIRE_WIRE_FULL,   /* the buffer is too small */
    MIRE_WIRE_MISUSED /* nested too deep, closed too often, left open, or a key in the wrong place */
};

/* The fields are private. */
struct wire {
    char *out;
    size_t cap;
    size_t length;
    enum wire_state state;
    unsigned depth;
    uint32_t is_array; /* bit d: depth d + 1 is an array */
    uint32_t has_any;  /* bit d: depth d has a value already */
};

/* Start a document. `out` is borrowed until finish, `cap` in bytes. */
void mire__wire_begin(struct wire *wire, char *out, size_t cap);

/* Open an object or an array; mire__wire_end closes the innermost. At most MIRE_WIRE_DEPTH_MAX deep. */
void mire__wire_object(struct wire *wire, const char *key);
void mire__wire_array(struct wire *wire, const char *key);
void mire__wire_end(struct wire *wire);

/*
 * A text, up to its NUL or `cap` bytes. Bytes that are not UTF-8 become U+FFFD; the text is cut to MIRE_WIRE_TEXT_MAX
 * characters. NULL is written as an empty text.
 */
void mire__wire_text(struct wire *wire, const char *key, const char *text, size_t cap);

/* `count` bytes as lower-case hex digits. */
void mire__wire_hex(struct wire *wire, const char *key, const uint8_t *bytes, size_t count);

/* Numbers; ppm is a share in millionths, written as a decimal fraction (250000 -> 0.25). */
void mire__wire_u64(struct wire *wire, const char *key, uint64_t value);
void mire__wire_i64(struct wire *wire, const char *key, int64_t value);
void mire__wire_ppm(struct wire *wire, const char *key, uint32_t ppm);
void mire__wire_bool(struct wire *wire, const char *key, bool value);

/* Whole columns. */
void mire__wire_u64_column(struct wire *wire, const char *key, const uint64_t *values, size_t count);
void mire__wire_u32_column(struct wire *wire, const char *key, const uint32_t *values, size_t count);
void mire__wire_i32_column(struct wire *wire, const char *key, const int32_t *values, size_t count);
void mire__wire_u8_column(struct wire *wire, const char *key, const uint8_t *values, size_t count);

/*
 * End the document.
 *
 *   length_out  bytes written, no NUL behind them; 0 unless done
 *
 * Returns MIRE_WIRE_DONE, MIRE_WIRE_FULL, MIRE_WIRE_MISUSED.
 */
enum wire_state mire__wire_finish(size_t *length_out, struct wire *wire);

#endif
