/*
 * id.c - identifiers. Randomness and hashes are libsodium's.
 */
#include "base/id.h"

#include <sodium.h>
#include <string.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool hex_parse(uint8_t *out, const char *digits, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = hex_value(digits[2 * i]);
        int low = high < 0 ? -1 : hex_value(digits[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

void hex_format(char *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

static const uint8_t uuid_groups[] = {4, 2, 2, 2, 6};

bool uuid_parse(struct uuid *out, const char *text, size_t len)
{
    uint8_t *bytes = out->bytes;
    if (len != MIRE_UUID_TEXT - 1)
        return false;
    for (size_t g = 0; g < sizeof uuid_groups; g++) {
        if (!hex_parse(bytes, text, uuid_groups[g]))
            return false;
        bytes += uuid_groups[g];
        text += 2 * uuid_groups[g];
        if (g + 1 < sizeof uuid_groups && *text++ != '-')
            return false;
    }
    return true;
}

void uuid_format(char out[MIRE_UUID_TEXT], const struct uuid *uuid)
{
    const uint8_t *bytes = uuid->bytes;
    for (size_t g = 0; g < sizeof uuid_groups; g++) {
        hex_format(out, bytes, uuid_groups[g]);
        bytes += uuid_groups[g];
        out += 2 * uuid_groups[g];
        if (g + 1 < sizeof uuid_groups)
            *out++ = '-';
    }
}

/* The instant, the version and the variant over 16 bytes of any content. */
static void stamp(struct uuid *out, uint64_t wall_ms, uint8_t version)
{
    for (int i = 0; i < 6; i++)
        out->bytes[i] = (uint8_t)(wall_ms >> (40 - 8 * i));
    out->bytes[6] = (uint8_t)(version << 4 | (out->bytes[6] & 0x0f));
    out->bytes[8] = (uint8_t)(0x80 | (out->bytes[8] & 0x3f));
}

void uuid_make(struct uuid *out, int64_t wall_us)
{
    randombytes_buf(out->bytes, sizeof out->bytes);
    stamp(out, wall_us > 0 ? (uint64_t)wall_us / 1000 : 0, 7);
}

void uuid_derive(struct uuid *out, uint64_t wall_ms, const void *content, size_t len)
{
    hash_blake2b(out->bytes, sizeof out->bytes, content, len);
    stamp(out, wall_ms, 8);
}

void uuid_of_app(struct uuid *id, int32_t app_id)
{
    struct {
        struct uuid id;
        int32_t app_id;
    } parts = {*id, app_id};
    if (id->bytes[6] >> 4 == 8)
        uuid_derive(id, (uint64_t)uuid_wall_us(id) / 1000, &parts, sizeof parts);
}

int64_t uuid_wall_us(const struct uuid *uuid)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | uuid->bytes[i];
    return ms * 1000;
}

int16_t uuid_slot(const struct uuid *uuid)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        hash = (hash ^ uuid->bytes[i]) * 16777619u;
    hash ^= hash >> 16;
    return (int16_t)(hash % MIRE_SLOT_COUNT);
}

void hash_blake2b(uint8_t *out, size_t out_len, const void *bytes, size_t len)
{
    crypto_generichash(out, out_len, bytes, len, NULL, 0);
}

void hash_sha256(uint8_t out[MIRE_SHA256], const void *bytes, size_t len)
{
    crypto_hash_sha256(out, bytes, len);
}

static const char key_alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

void hash_hmac_sha256(uint8_t out[MIRE_SHA256], const void *key, size_t key_len, const void *bytes, size_t len)
{
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, key, key_len);
    crypto_auth_hmacsha256_update(&state, bytes, len);
    crypto_auth_hmacsha256_final(&state, out);
}

void base64_format(char *out, const uint8_t *bytes, size_t len, enum base64_kind kind)
{
    sodium_bin2base64(out, MIRE_BASE64_TEXT(len), bytes, len,
                      kind == MIRE_BASE64_URL ? sodium_base64_VARIANT_URLSAFE_NO_PADDING
                                              : sodium_base64_VARIANT_ORIGINAL);
}

bool base64_parse(uint8_t *out, size_t room, size_t *len_out, const char *text)
{
    const char *end;
    return sodium_base642bin(out, room, text, strlen(text), NULL, len_out, &end, sodium_base64_VARIANT_ORIGINAL) == 0 &&
           !*end;
}

bool secret_equals(const void *a, const void *b, size_t len)
{
    return sodium_memcmp(a, b, len) == 0;
}

uint64_t hash_short(const uint8_t key[MIRE_SHORT_KEY], const void *bytes, size_t len)
{
    uint64_t hash;
    _Static_assert(MIRE_SHORT_KEY == crypto_shorthash_siphash24_KEYBYTES, "the key's size");
    crypto_shorthash_siphash24((unsigned char *)&hash, bytes, len, key);
    return hash;
}

void random_fill(void *out, size_t len)
{
    randombytes_buf(out, len);
}

void key_make(char out[MIRE_KEY_TEXT])
{
    uint8_t random[MIRE_KEY_TEXT - 4];
    randombytes_buf(random, sizeof random);
    memcpy(out, "mk_", 3);
    for (size_t i = 0; i < sizeof random; i++)
        out[3 + i] = key_alphabet[random[i] & 31];
    out[MIRE_KEY_TEXT - 1] = '\0';
    sodium_memzero(random, sizeof random);
}

bool key_is_wellformed(const char *text, size_t len)
{
    return len == MIRE_KEY_TEXT - 1 && !memcmp(text, "mk_", 3) && strspn(text + 3, key_alphabet) >= len - 3;
}

void key_hash(uint8_t out[MIRE_KEY_HASH], const char *text, size_t len)
{
    hash_blake2b(out, MIRE_KEY_HASH, text, len);
}
