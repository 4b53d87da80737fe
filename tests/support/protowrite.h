/*
 * protowrite.h - writes protocol buffer messages for tests of readers. Include after cmocka.h.
 *
 *     struct message inner = {0}, outer = {0};
 *     put_number(&inner, 1, 5);
 *     put_message(&outer, 2, &inner);      inner is empty again
 */
#ifndef MIRE_TESTS_PROTOWRITE_H
#define MIRE_TESTS_PROTOWRITE_H

#include <stdint.h>
#include <string.h>

struct message {
    unsigned char bytes[16384];
    size_t len;
};

static inline void put_byte(struct message *m, unsigned byte)
{
    assert_true(m->len < sizeof m->bytes);
    m->bytes[m->len++] = (unsigned char)byte;
}

static inline void put_varint(struct message *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(m, 0x80 | (value & 0x7f));
    put_byte(m, (unsigned)value);
}

static inline void put_number(struct message *m, unsigned field, uint64_t value)
{
    put_varint(m, (uint64_t)field << 3);
    put_varint(m, value);
}

static inline void put_fixed(struct message *m, unsigned field, uint64_t value)
{
    put_varint(m, (uint64_t)field << 3 | 1);
    for (int i = 0; i < 8; i++)
        put_byte(m, (unsigned)(value >> 8 * i) & 0xff);
}

static inline void put_bytes(struct message *m, unsigned field, const void *bytes, size_t len)
{
    put_varint(m, (uint64_t)field << 3 | 2);
    put_varint(m, len);
    for (size_t i = 0; i < len; i++)
        put_byte(m, ((const unsigned char *)bytes)[i]);
}

static inline void put_text(struct message *m, unsigned field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

static inline void put_message(struct message *m, unsigned field, struct message *inner)
{
    put_bytes(m, field, inner->bytes, inner->len);
    inner->len = 0;
}

#endif
