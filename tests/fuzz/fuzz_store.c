/*
 * fuzz_store.c - files of the device store after any damage of the disk: the frame at the beginning of each, and the
 * text of the loss ledger.
 *
 * The input is a file. A ledger's text is the file's body, or the whole input if the file is not whole.
 */
#include "store/inside.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* A frame that is read is equal to the frame that writing would make. */
static void look_at_frame(struct frame *frame, const uint8_t *file, size_t size)
{
    uint8_t head[MIRE_FRAME_BYTES];
    struct frame again = {0}, peeked = {0};
    enum frame_state state = mire__frame_check(frame, file, size);
    size_t seen = size < MIRE_FRAME_BYTES_MAX ? size : MIRE_FRAME_BYTES_MAX;

    if (state > FRAME_OLD)
        return;
    expect(frame->body_at <= size && frame->body_size <= size - frame->body_at);
    if (state == FRAME_OLD)
        return;
    expect(mire__frame_peek(&peeked, file, seen, size) == FRAME_WHOLE && peeked.value == frame->value);

    const struct disk_part body = {file + frame->body_at, frame->body_size};
    mire__frame_write(head, frame, &body, 1);
    uint8_t *whole = malloc(sizeof(head) + body.size + 1);
    expect(whole != NULL);
    memcpy(whole, head, sizeof(head));
    memcpy(whole + sizeof(head), body.bytes, body.size);
    expect(mire__frame_check(&again, whole, sizeof(head) + body.size) == FRAME_WHOLE);
    expect(again.value == frame->value && again.body_size == frame->body_size);
    expect(memcmp(again.losses, frame->losses, sizeof(frame->losses)) == 0);
    free(whole);
}

static void look_at_ledger(const char *text, size_t size)
{
    static char written[MIRE_LEDGER_TEXT];
    static struct ledger ledger, again;

    if (!mire__ledger_read(&ledger, text, size))
        return;
    expect(ledger.dropping <= MIRE_LEDGER_BATCH);
    size_t length = mire__ledger_write(written, &ledger);
    expect(length < sizeof(written) && mire__ledger_read(&again, written, length));
    expect(memcmp(again.counts, ledger.counts, sizeof(ledger.counts)) == 0);
    expect(again.sealing == ledger.sealing && again.dropping == ledger.dropping);
    expect(memcmp(again.ids, ledger.ids, ledger.dropping * sizeof(ledger.ids[0])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame frame = {.body_size = size};

    look_at_frame(&frame, data, size);
    if (frame.body_at > size || frame.body_size > size - frame.body_at)
        frame = (struct frame){.body_size = size};
    look_at_ledger((const char *)data + frame.body_at, frame.body_size);
    return 0;
}
