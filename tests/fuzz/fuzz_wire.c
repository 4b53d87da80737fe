/*
 * Heads of requests: however the bytes are cut into pieces, the same is found; what is taken has no byte that a second
 * reader could understand differently.
 */
#include "http/wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADERS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum wire_outcome scan_in_pieces(size_t *seen, const char *bytes, size_t size, size_t step)
{
    enum wire_outcome found = MIRE_WIRE_MORE;

    *seen = 0;
    for (size_t len = step; found == MIRE_WIRE_MORE && len < size + step; len += step)
        found = wire_scan(seen, bytes, len < size ? len : size);
    return found;
}

static void check(const struct wire_head *head)
{
    size_t hosts = 0, lengths = 0, codings = 0;

    if (strpbrk(head->target, " \r\n") || strpbrk(head->method, " \r\n"))
        abort();
    for (size_t i = 0; i < head->header_count; i++) {
        const struct http_pair *header = &head->headers[i];
        if (!*header->name || strpbrk(header->name, " \t:") || strpbrk(header->value, "\r\n"))
            abort();
        hosts += !strcasecmp(header->name, "Host");
        lengths += !strcasecmp(header->name, "Content-Length");
        codings += !strcasecmp(header->name, "Transfer-Encoding");
        if (!strcasecmp(header->name, "Transfer-Encoding") && strcasecmp(header->value, "chunked") != 0)
            abort();
    }
    if (hosts > 1 || lengths + codings > 1 || head->is_chunked != (codings == 1) || (!hosts && !head->is_last))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_head head;
    struct http_pair headers[HEADERS];
    const char *why = NULL;
    size_t seen, again;
    char *bytes = malloc(size + 1); /* exactly as long: reading on is found */

    if (!bytes)
        abort();
    memcpy(bytes, data, size);
    enum wire_outcome found = scan_in_pieces(&seen, bytes, size, size ? size : 1);
    for (size_t step = 1; step < 8; step++)
        if (scan_in_pieces(&again, bytes, size, step) != found || again != seen)
            abort();
    if (found == MIRE_WIRE_WHOLE && !wire_parse(&head, &why, headers, HEADERS, bytes, seen))
        check(&head);
    free(bytes);
    return 0;
}
