/*
 * plain.c - decompresses a body, up to MIRE_DECODE_PLAIN_MAX bytes and MIRE_DECODE_RATIO_MAX bytes for each byte of the
 * body, regardless of the size in the body.
 */
#include "decode/decode.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define WINDOW_LOG_MAX 23 /* 8 MiB, the limit of RFC 9659 */
#define FIRST_ROOM     (64u << 10)

struct sink { /* bytes out; grows in the arena */
    struct arena *arena;
    char *bytes;
    size_t len;
    size_t room;
    size_t most; /* bytes that the body may become */
};

static enum decode_outcome malformed(struct decode_fault *fault, size_t position, const char *text)
{
    fault->position = position;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return MIRE_DECODE_MALFORMED;
}

static enum decode_outcome too_big(struct decode_fault *fault, size_t most)
{
    snprintf(fault->text, sizeof fault->text, "more than %zu bytes once decompressed", most);
    return MIRE_DECODE_TOO_BIG;
}

static size_t most_of(size_t len)
{
    size_t most =
        len < MIRE_DECODE_PLAIN_MAX / MIRE_DECODE_RATIO_MAX ? len * MIRE_DECODE_RATIO_MAX : MIRE_DECODE_PLAIN_MAX;
    return most < MIRE_DECODE_ANY_RATIO ? MIRE_DECODE_ANY_RATIO : most;
}

bool decode_is_small(const char *encoding, const void *body, size_t len)
{
    if (!strcmp(encoding, "identity"))
        return len <= MIRE_DECODE_SMALL;
    if (strcmp(encoding, "zstd") != 0 || len > MIRE_DECODE_SMALL || ZSTD_findFrameCompressedSize(body, len) != len)
        return false; /* gzip has only the size of the last member, at the end */
    return ZSTD_getFrameContentSize(body, len) <= MIRE_DECODE_SMALL;
}

/* Room for `want` bytes and a NUL. */
static enum decode_outcome make_room(struct sink *sink, size_t want)
{
    char *bytes = arena_alloc(sink->arena, want + 1);
    if (!bytes)
        return MIRE_DECODE_NO_MEMORY;
    if (sink->len)
        memcpy(bytes, sink->bytes, sink->len);
    sink->bytes = bytes;
    sink->room = want;
    return MIRE_DECODE_OK;
}

static enum decode_outcome widen(struct sink *sink, struct decode_fault *fault)
{
    if (sink->len < sink->room)
        return MIRE_DECODE_OK;
    if (sink->room >= sink->most)
        return too_big(fault, sink->most);
    size_t want = sink->room * 4;
    return make_room(sink, want < sink->most ? want : sink->most);
}

static enum decode_outcome run_zstd(struct sink *sink, struct decode_fault *fault, ZSTD_DStream *stream,
                                    const void *body, size_t len)
{
    ZSTD_inBuffer in = {body, len, 0};
    for (;;) {
        ZSTD_outBuffer out = {sink->bytes, sink->room, sink->len};
        size_t left = ZSTD_decompressStream(stream, &out, &in);
        sink->len = out.pos;
        if (ZSTD_isError(left))
            return malformed(fault, in.pos, ZSTD_getErrorName(left));
        if (left == 0 && in.pos == len)
            return MIRE_DECODE_OK;
        if (in.pos == len && out.pos < out.size)
            return malformed(fault, len, "the zstd frame ends too early");
        enum decode_outcome outcome = widen(sink, fault);
        if (outcome)
            return outcome;
    }
}

/* ---- one whole frame with its size, as devices send it ---- */

static pthread_key_t context_key;

static void free_context(void *context)
{
    ZSTD_freeDCtx(context);
}

static void make_key(void)
{
    if (pthread_key_create(&context_key, free_context))
        context_key = (pthread_key_t)-1;
}

/* This thread's context, which is kept: creating one costs more than decoding most bodies. NULL: cannot be created. */
static ZSTD_DCtx *find_context(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_key);
    ZSTD_DCtx *context = pthread_getspecific(context_key);
    if (context || context_key == (pthread_key_t)-1)
        return context;
    context = ZSTD_createDCtx();
    if (context && pthread_setspecific(context_key, context)) {
        ZSTD_freeDCtx(context);
        return NULL;
    }
    return context;
}

/* False: run_zstd finds the problem, or decodes the body. */
static bool undo_frame(struct sink *sink, const void *body, size_t len)
{
    if (ZSTD_findFrameCompressedSize(body, len) != len)
        return false;
    ZSTD_DCtx *context = find_context();
    size_t got = context ? ZSTD_decompressDCtx(context, sink->bytes, sink->room, body, len) : 0;
    if (!context || ZSTD_isError(got))
        return false;
    sink->len = got;
    return true;
}

static enum decode_outcome undo_zstd(struct sink *sink, struct decode_fault *fault, const void *body, size_t len)
{
    unsigned long long claimed = ZSTD_getFrameContentSize(body, len);
    if (claimed == ZSTD_CONTENTSIZE_ERROR)
        return malformed(fault, 0, "no zstd frame");
    bool known = claimed != ZSTD_CONTENTSIZE_UNKNOWN;
    if (known && claimed > sink->most)
        return too_big(fault, sink->most);
    enum decode_outcome outcome = make_room(sink, known && claimed ? (size_t)claimed : FIRST_ROOM);
    if (outcome || (known && claimed && undo_frame(sink, body, len)))
        return outcome;
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        return MIRE_DECODE_NO_MEMORY;
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    outcome = run_zstd(sink, fault, stream, body, len);
    ZSTD_freeDStream(stream);
    return outcome;
}

static enum decode_outcome run_gzip(struct sink *sink, struct decode_fault *fault, z_stream *stream, size_t len)
{
    for (;;) {
        stream->next_out = (Bytef *)sink->bytes + sink->len;
        stream->avail_out = (uInt)(sink->room - sink->len);
        int result = inflate(stream, Z_NO_FLUSH);
        sink->len = sink->room - stream->avail_out;
        size_t position = len - stream->avail_in;
        if (result == Z_STREAM_END && !stream->avail_in)
            return MIRE_DECODE_OK;
        if (result == Z_STREAM_END && inflateReset(stream) == Z_OK)
            continue; /* members one after another are one body */
        if (result == Z_MEM_ERROR)
            return MIRE_DECODE_NO_MEMORY;
        if (result != Z_OK && result != Z_BUF_ERROR)
            return malformed(fault, position, stream->msg ? stream->msg : "no gzip data");
        if (!stream->avail_in && stream->avail_out)
            return malformed(fault, len, "the gzip data end too early");
        enum decode_outcome outcome = widen(sink, fault);
        if (outcome)
            return outcome;
    }
}

static enum decode_outcome undo_gzip(struct sink *sink, struct decode_fault *fault, const void *body, size_t len)
{
    z_stream stream = {0};
    if (len > UINT32_MAX)
        return too_big(fault, sink->most);
    enum decode_outcome outcome = make_room(sink, FIRST_ROOM);
    if (outcome)
        return outcome;
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return MIRE_DECODE_NO_MEMORY;
    stream.next_in = (z_const Bytef *)(uintptr_t)body;
    stream.avail_in = (uInt)len;
    outcome = run_gzip(sink, fault, &stream, len);
    inflateEnd(&stream);
    return outcome;
}

static enum decode_outcome keep(struct sink *sink, struct decode_fault *fault, const void *body, size_t len)
{
    const char *really = decode_encoding_of(body, len); /* no format begins like a compressed body */
    if (strcmp(really, "zstd") == 0)
        return malformed(fault, 0, "this is a zstd frame: send Content-Encoding: zstd");
    if (strcmp(really, "gzip") == 0)
        return malformed(fault, 0, "these are gzip data: send Content-Encoding: gzip");
    if (len > MIRE_DECODE_PLAIN_MAX)
        return too_big(fault, MIRE_DECODE_PLAIN_MAX);
    enum decode_outcome outcome = make_room(sink, len);
    if (!outcome && len)
        memcpy(sink->bytes, body, len);
    sink->len = len;
    return outcome;
}

enum decode_outcome decode_plain(char **plain_out, size_t *plain_len_out, struct arena *arena,
                                 struct decode_fault *fault, const char *encoding, const void *body, size_t len)
{
    static const struct {
        const char *name;
        enum decode_outcome (*undo)(struct sink *sink, struct decode_fault *fault, const void *body, size_t len);
    } encodings[] = {{"zstd", undo_zstd}, {"gzip", undo_gzip}, {"identity", keep}};

    *fault = (struct decode_fault){0};
    struct sink sink = {.arena = arena, .most = most_of(len)};
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(encodings[i].name, encoding))
            continue;
        enum decode_outcome outcome = encodings[i].undo(&sink, fault, body, len);
        if (outcome)
            return outcome;
        sink.bytes[sink.len] = '\0';
        *plain_out = sink.bytes;
        *plain_len_out = sink.len;
        return MIRE_DECODE_OK;
    }

    snprintf(fault->text, sizeof fault->text, "unknown encoding %.*s", TEXT_CUT(encoding, 40));
    return MIRE_DECODE_UNKNOWN;
}

const char *decode_encoding_of(const void *body, size_t len)
{
    const unsigned char *u = body;
    if (len >= 4 && u[0] == 0x28 && u[1] == 0xb5 && u[2] == 0x2f && u[3] == 0xfd)
        return "zstd";
    if (len >= 4 && (u[0] & 0xf0) == 0x50 && u[1] == 0x2a && u[2] == 0x4d && u[3] == 0x18)
        return "zstd"; /* a frame that readers pass over, as before a sealed report in the device's store */
    return len >= 2 && u[0] == 0x1f && u[1] == 0x8b ? "gzip" : "identity";
}
