/*
 * test_chunks.c - chunked bodies: which are taken, and which are refused.
 */
#include "http/chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char body[64 * 1024];
static size_t body_len, rest_len;

/* The outcome of a body that comes in pieces of `step` bytes. */
static enum wire_outcome take(const char *text, size_t len, size_t step)
{
    struct chunks chunks = {0};
    enum wire_outcome found = MIRE_WIRE_MORE;
    body_len = 0;
    rest_len = len;
    while (rest_len && found == MIRE_WIRE_MORE) {
        size_t piece = rest_len < step ? rest_len : step, left = piece, data_len;
        char *copy = malloc(piece); /* exactly as long: reading on is found */
        const char *at = copy, *data;
        memcpy(copy, text + len - rest_len, piece);
        while (left && found == MIRE_WIRE_MORE) {
            found = chunks_take(&chunks, &data, &data_len, &at, &left);
            memcpy(body + body_len, data, data_len);
            body_len += data_len;
        }
        free(copy);
        rest_len -= piece - left;
    }
    body[body_len] = '\0';
    return found;
}

static void a_body_is_gathered_however_it_is_cut(void **state)
{
    (void)state;
    static const char *const good[] = {
        "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        "b\r\nhello world\r\n0\r\n\r\n",
        "0000000B\r\nhello world\r\n00000000\r\n\r\n",
        "1\r\nh\r\n1\r\ne\r\n9\r\nllo world\r\n0\r\n\r\n",
        "b;name;other=value; quoted=\"a \\\"b\\\"; c\"\r\nhello world\r\n0;last\r\n\r\n",
        "b\r\nhello world\r\n0\r\nExpires: never\r\nX-Sum:\t1, 2\r\nEmpty:\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[256];
        snprintf(text, sizeof text, "%sGET / HTTP/1.1\r\n", good[i]);
        for (size_t step = 1; step <= strlen(text); step++) {
            assert_int_equal(take(text, strlen(text), step), MIRE_WIRE_WHOLE);
            assert_string_equal(body, "hello world");
            assert_string_equal(text + strlen(text) - rest_len, "GET / HTTP/1.1\r\n");
        }
        for (size_t len = 0; len < strlen(good[i]); len++)
            assert_int_equal(take(good[i], len, len + 1), MIRE_WIRE_MORE);
    }
    assert_int_equal(take("0\r\n\r\n", 5, 5), MIRE_WIRE_WHOLE);
    assert_int_equal(body_len, 0);
}

static void the_data_may_be_any_bytes(void **state)
{
    (void)state;
    static const char text[] = "8\r\n\r\n0\r\n\r\n\0\r\n0\r\n\r\n";
    for (size_t step = 1; step < sizeof text; step++) {
        assert_int_equal(take(text, sizeof text - 1, step), MIRE_WIRE_WHOLE);
        assert_int_equal(body_len, 8);
        assert_memory_equal(body, "\r\n0\r\n\r\n", 8);
    }
}

static void a_body_that_two_readers_could_cut_differently_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\r\n\r\n",
        ";a\r\nhello\r\n",
        "g\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\t;a\r\nhello\r\n0\r\n\r\n",
        "5,\r\nhello\r\n0\r\n\r\n",
        "000000005\r\nhello\r\n0\r\n\r\n", /* a ninth digit */
        "100000000\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\rhello\r\n0\r\n\r\n",
        "5\r\r\nhello\r\n0\r\n\r\n",
        "5;a\nhello\r\n0\r\n\r\n", /* the end of a line to some, a part of the extension to others */
        "5;a\rb\r\nhello\r\n0\r\n\r\n",
        "5;a\x01\r\nhello\r\n0\r\n\r\n",
        "5;a\x7f\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhelloXX0\r\n\r\n",
        "5\r\nhello\rX0\r\n\r\n",
        "5\r\nhello\r\n\r\n0\r\n\r\n",
        "0\n\n",
        "0\r\n\n",
        "0\r\n\rX",
        "0\r\nA: b\n\r\n",
        "0\r\nA: b\r\n c\r\n\r\n",
        "0\r\nA : b\r\n\r\n",
        "0\r\nA\r\n\r\n",
        "0\r\n: b\r\n\r\n",
        "0\r\nGET / HTTP/1.1\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t step = 1; step <= strlen(bad[i]); step++)
            if (take(bad[i], strlen(bad[i]), step) != MIRE_WIRE_BAD)
                fail_msg("taken: %s", bad[i]);
    assert_int_equal(take("5;a\0b\r\n", 7, 7), MIRE_WIRE_BAD);
}

/* `extras` bytes of extensions and trailers, spread over as many places as `parts`. */
static enum wire_outcome take_with_extras(size_t extras, int parts, bool in_trailers)
{
    static char text[64 * 1024];
    size_t len = in_trailers ? (size_t)sprintf(text, "0\r\n") : 0;
    for (int i = 0; i < parts; i++) {
        int size = (int)(extras / (size_t)parts);
        len += (size_t)sprintf(text + len, in_trailers ? "A:%0*d\r\n" : "1;%0*d\r\nx\r\n",
                               in_trailers ? size - 2 : size, 1);
    }
    len += (size_t)sprintf(text + len, in_trailers ? "\r\n" : "0\r\n\r\n");
    return take(text, len, 1000);
}

static void extensions_and_trailers_are_bounded_together(void **state)
{
    (void)state;
    for (int parts = 1; parts <= 64; parts *= 4)
        for (int in_trailers = 0; in_trailers < 2; in_trailers++) {
            assert_int_equal(take_with_extras(MIRE_CHUNKS_EXTRAS_MAX, parts, in_trailers), MIRE_WIRE_WHOLE);
            assert_int_equal(take_with_extras(MIRE_CHUNKS_EXTRAS_MAX + 64, parts, in_trailers), MIRE_WIRE_BAD);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_gathered_however_it_is_cut),
        cmocka_unit_test(the_data_may_be_any_bytes),
        cmocka_unit_test(a_body_that_two_readers_could_cut_differently_is_refused),
        cmocka_unit_test(extensions_and_trailers_are_bounded_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
