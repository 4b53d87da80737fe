/*
 * fuzz_upload.c - responses of a server, or of a host in its place, to the sender: Retry-After, Date, and the body that
 * must name a report.
 *
 * The input is two lines and a rest.
 */
#include "upload/rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOW_MS 1763685118456u
#define DAY_MS 86400000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read the next line, of at most 63 bytes like the header fields, and move past it. */
static void line_of(char out[64], const uint8_t **data, size_t *size)
{
    const uint8_t *end = memchr(*data, '\n', *size);
    size_t length = end ? (size_t)(end - *data) : *size, kept = length < 63 ? length : 63;

    memcpy(out, *data, kept);
    out[kept] = '\0';
    length += end != NULL;
    *data += length;
    *size -= length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char id[] = "0123abcd-ef01-7000-8000-000000000001";
    char retry_after[64] = "", date[64] = "";
    uint64_t wait_ms = 0;

    if (size == 0)
        return 0;
    line_of(retry_after, &data, &size);
    line_of(date, &data, &size);
    if (mire__upload_asked_ms(&wait_ms, retry_after, date, NOW_MS) && wait_ms > DAY_MS)
        abort();
    char *text = malloc(size + 1); /* exact size: a sanitizer finds a read beyond it */
    if (!text)
        return 0;
    memcpy(text, data, size);
    if (mire__upload_is_ack(text, size, id) && !memmem(text, size, id, sizeof(id) - 1))
        abort();
    free(text);
    return 0;
}
