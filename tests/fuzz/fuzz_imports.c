/*
 * Any input through the recogniser and the decoders of other formats, in pieces of any size: each report that comes out
 * is written, and the written text must be a report. With $FORMAT set, all inputs are of that format.
 */
#include "fuzz/written.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *bytes;
    size_t len, at, piece;
};

static long read_piece(void *context, void *out, size_t room)
{
    struct input *in = context;
    size_t len = in->len - in->at < room ? in->len - in->at : room;
    len = len > in->piece ? in->piece : len;
    memcpy(out, in->bytes + in->at, len);
    in->at += len;
    return (long)len;
}

static int check(void *context, const struct decode_found *found)
{
    (void)context;
    return found->report && !written_is_a_report(found->report);
}

static int go_on(void *context, enum decode_outcome outcome, const struct decode_fault *fault)
{
    (void)context;
    (void)outcome;
    (void)fault;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_fault fault;
    struct input in = {data, size, 0, size ? 1 + data[size - 1] % 64u : 1};
    const struct decode_each each = {
        .format = getenv("FORMAT"), .context = &in, .read = read_piece, .found = check, .refused = go_on};
    (void)decode_each(&fault, &each);
    return 0;
}
