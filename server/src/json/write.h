/*
 * write.h - writes JSON into memory that grows.
 *
 *     struct json_writer w;
 *     json_write_begin(&w);
 *     json_write_open(&w, NULL, '{');
 *     json_write_u64(&w, "n", 1);
 *     json_write_close(&w, '}');
 *     if (!w.failed) ... w.text, w.len; free(w.text)
 *
 * `key` is a member's name inside an object, NULL inside an array and at the top; keys need no escaping. Running out of
 * memory sticks: later calls do nothing. Texts must be UTF-8.
 */
#ifndef MIRE_JSON_WRITE_H
#define MIRE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer {
    char *text; /* owned by caller: free */
    size_t len;
    size_t room;
    bool comma;  /* a value stands before the next one */
    bool failed; /* out of memory */
};

void json_write_begin(struct json_writer *w);
void json_write_open(struct json_writer *w, const char *key, char bracket); /* { or [ */
void json_write_close(struct json_writer *w, char bracket);                 /* } or ] */
void json_write_text(struct json_writer *w, const char *key, const char *text);
void json_write_u64(struct json_writer *w, const char *key, uint64_t value);
void json_write_i64(struct json_writer *w, const char *key, int64_t value);
void json_write_real(struct json_writer *w, const char *key, double value); /* to three decimals; 0 if not finite */
void json_write_bool(struct json_writer *w, const char *key, bool value);
void json_write_null(struct json_writer *w, const char *key);
void json_write_raw(struct json_writer *w, const char *key, const char *json); /* one value, as it stands */

/* An array of `count` values, each an expression of size_t i. kind: text, u64 and so on, as in the names above. */
#define JSON_WRITE_LIST(w, name, kind, count, value) \
    do {                                             \
        json_write_open(w, name, '[');               \
        for (size_t i = 0; i < (count); i++)         \
            json_write_##kind(w, NULL, value);       \
        json_write_close(w, ']');                    \
    } while (0)

/* Room for bytes that are no JSON, behind all that was written: the caller writes them, and adds them to `len`. NULL: no
 * memory. */
unsigned char *json_write_room(struct json_writer *w, size_t len);

#endif
