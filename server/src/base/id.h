/*
 * id.h - identifiers: UUIDs, slots, access keys, hex, hashes. Any thread.
 */
#ifndef MIRE_BASE_ID_H
#define MIRE_BASE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SLOT_COUNT     64 /* distribution buckets of the high-volume tables */
#define MIRE_UUID_TEXT      37 /* room for a UUID as text, with NUL */
#define MIRE_KEY_TEXT       44 /* room for an access key, with NUL: mk_ and 40 characters */
#define MIRE_KEY_HASH       32 /* bytes of a key's hash */
#define MIRE_KEY_PREFIX_LEN 9  /* characters of a key that may be shown: mk_ and six */

struct uuid {
    uint8_t bytes[16];
};

/* Read xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, either case. False if `len` bytes are not that. */
bool uuid_parse(struct uuid *out, const char *text, size_t len);

/* Lower case, NUL-terminated. */
void uuid_format(char out[MIRE_UUID_TEXT], const struct uuid *uuid);

/* A new UUIDv7 of this instant. */
void uuid_make(struct uuid *out, int64_t wall_us);

/* The instant inside a UUID of version 7 or 8. */
int64_t uuid_wall_us(const struct uuid *uuid);

/*
 * A UUID of version 8 that is derived of content: the same content has the same one.
 *
 *   wall_ms  the instant inside it, below 2^48; it decides in which day's partition a report lies
 */
void uuid_derive(struct uuid *out, uint64_t wall_ms, const void *content, size_t len);

/* The id under which an app's report is stored: a derived one becomes the app's own, of the same instant. */
void uuid_of_app(struct uuid *id, int32_t app_id);

/* The bucket of a report, 0..63: FNV-1a over the 16 bytes, folded. Never changes: it is in stored keys. */
int16_t uuid_slot(const struct uuid *uuid);

/* `len` bytes as 2 * len hex digits and a NUL. */
void hex_format(char *out, const uint8_t *bytes, size_t len);

/* 2 * len hex digits, either case, to `len` bytes; false if they are not that. */
bool hex_parse(uint8_t *out, const char *digits, size_t len);

/* BLAKE2b of `len` bytes to `out_len` (16..64) bytes. */
void hash_blake2b(uint8_t *out, size_t out_len, const void *bytes, size_t len);

/* SHA-256 of `len` bytes: for hashes that come from outside. */
#define MIRE_SHA256 32
void hash_sha256(uint8_t out[MIRE_SHA256], const void *bytes, size_t len);

/* HMAC-SHA-256 of `len` bytes under a key of any length. */
void hash_hmac_sha256(uint8_t out[MIRE_SHA256], const void *key, size_t key_len, const void *bytes, size_t len);

/* `len` bytes as base64 (RFC 4648): with padding, or for URLs without. `out` has room for MIRE_BASE64_TEXT(len). */
enum base64_kind { MIRE_BASE64, MIRE_BASE64_URL };
#define MIRE_BASE64_TEXT(len) (((len) + 2) / 3 * 4 + 1)
void base64_format(char *out, const uint8_t *bytes, size_t len, enum base64_kind kind);

/* base64 with padding to at most `room` bytes; how many in *len_out. False if the text is not that, or too long. */
bool base64_parse(uint8_t *out, size_t room, size_t *len_out, const char *text);

/* Are `len` bytes the same? The time does not depend on where they differ. */
bool secret_equals(const void *a, const void *b, size_t len);

/* SipHash-2-4: for tables in memory whose keys a stranger may choose, under a key of their own from random_fill. */
#define MIRE_SHORT_KEY 16
uint64_t hash_short(const uint8_t key[MIRE_SHORT_KEY], const void *bytes, size_t len);

/* Unpredictable bytes. */
void random_fill(void *out, size_t len);

/* A new random access key. */
void key_make(char out[MIRE_KEY_TEXT]);

/* Does it look like a key: mk_ and 40 characters of a-z2-7? */
bool key_is_wellformed(const char *text, size_t len);

/* The stored hash of a key. */
void key_hash(uint8_t out[MIRE_KEY_HASH], const char *text, size_t len);

#endif
