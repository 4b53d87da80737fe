/*
 * put_symbols.c - debug files that are sent: at once, or in parts that are gone on with after an interruption.
 *
 *     PUT  /api/v1/symbols?name=                     a whole file or archive
 *     POST /api/v1/symbols/missing                   which of these files are not there yet
 *     GET  /api/v1/symbols/uploads/{hash}            how much of a file has come
 *     PUT  /api/v1/symbols/uploads/{hash}?at=&size=&sum=&name=   the part that begins at `at`
 *
 * A file in parts is known by the BLAKE2b-256 of the whole; each part carries its own. Once all have come, the file is
 * put together and kept on the thread for what is slow. An answer that was lost is had again by an empty part at the
 * end.
 */
#include "api/api.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/symbols/import.h"

#include "base/fault.h"
#include "base/scope.h"
#include "rows/symbol.h"
#include "archive/contents.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL     3
#define HASH      32
#define SIZE_MAX_ (1ll << 40)
#define ASKED_MAX 1000 /* files in one question */

/* A file without a name. */
static int scratch(const struct api *api)
{
    if (!api->scratch_dir)
        return memfd_create("mire-symbols", MFD_CLOEXEC);
    return open(api->scratch_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len) {
        ssize_t n = write(fd, at, len);
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* 0: *name_out is the name it is sent under, or "". 1: the reply says what is wrong. */
static int read_name(const char **name_out, const struct request *request, struct reply *reply)
{
    const char *name = request_query(request, "name");
    *name_out = name ? name : "";
    if (strlen(*name_out) <= MIRE_IMPORT_NAME_MAX)
        return 0;
    (void)reply_error(reply, request, 400, "symbols.name", "The name has more than %d bytes.", MIRE_IMPORT_NAME_MAX);
    return 1;
}

/* A file is large: reports come first where the disk is nearly full. 0, or 1: the reply says so. */
static int refuse_full(const struct api *api, const struct request *request, struct reply *reply)
{
    if (!api->is_full || !api->is_full(api->full_context))
        return 0;
    (void)reply_error(reply, request, 507, "disk", "The server's disk is full. Nothing was stored.");
    return 1;
}

int put_symbols(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    const char *name = "";
    bool kept;
    int rc = read_name(&name, request, reply);
    if (!rc)
        rc = refuse_full(api, request, reply);
    if (rc)
        return rc < 0 ? rc : MIRE_HTTP_DONE;
    if (request->lane != MIRE_LANE_SLOW)
        return MIRE_HTTP_SLOW;
    MIRE_SCOPED(close_fd) int fd = scratch(api);
    if (fd < 0 || !write_all(fd, request->body, request->body_len))
        return MIRE_FAULT_SYSTEM;
    return import_file(&kept, api, request, reply, fd, name, NULL);
}

/* --- which are missing --- */

struct files_asked {
    size_t count;
    struct pg_bytes *ids;
    bool *debug;
    struct symbol_there *there;
};

struct asked_file {
    const char *id, *kind;
};

static enum bind_outcome read_file(struct files_asked *asked, struct bind *bind, uint32_t at)
{
    static const struct bind_field fields[] = {
        {"build_id", MIRE_BIND_TEXT, offsetof(struct asked_file, id), .required = true, .max = 2 * MIRE_SYMBOL_ID_MAX},
        {"kind", MIRE_BIND_TEXT, offsetof(struct asked_file, kind), .required = true, .max = 16},
    };
    struct asked_file file = {0};
    enum bind_outcome outcome = bind_object(bind, &file, at, fields, sizeof fields / sizeof *fields);
    if (outcome != MIRE_BIND_OK)
        return outcome;
    size_t len = strlen(file.id) / 2;
    uint8_t *id = arena_alloc(bind->arena, MIRE_SYMBOL_ID_MAX);
    if (!id)
        return MIRE_BIND_NO_MEMORY;
    if (!len || strlen(file.id) % 2 || !hex_parse(id, file.id, len))
        return bind_wrong_at(bind, "build_id", "must be hexadecimal digits, two a byte");
    if (strcmp(file.kind, "debug") != 0 && strcmp(file.kind, "symtab") != 0)
        return bind_wrong_at(bind, "kind", "must be debug or symtab");
    asked->debug[asked->count] = !strcmp(file.kind, "debug");
    asked->ids[asked->count++] = (struct pg_bytes){id, len};
    return MIRE_BIND_OK;
}

static enum bind_outcome read_files(struct bind *bind, void *out, uint32_t at)
{
    struct files_asked *asked = out;
    enum bind_outcome outcome = bind_is_array(bind, at, ASKED_MAX);
    size_t count = outcome == MIRE_BIND_OK ? json_size(bind->json, at) : 0;
    asked->ids = arena_array(bind->arena, count, sizeof *asked->ids);
    asked->debug = arena_array(bind->arena, count, sizeof *asked->debug);
    asked->there = arena_array(bind->arena, count, sizeof *asked->there);
    if (outcome == MIRE_BIND_OK && (!asked->ids || !asked->debug || !asked->there))
        return MIRE_BIND_NO_MEMORY;
    uint32_t item = at + 1;
    for (size_t i = 0; i < count && outcome == MIRE_BIND_OK; i++, item = json_next(bind->json, item)) {
        bind_enter(bind, NULL, i);
        outcome = read_file(asked, bind, item);
        bind_leave(bind);
    }
    return outcome;
}

static const struct bind_field asked_fields[] = {{"files", MIRE_BIND_OTHER, 0, .required = true, .read = read_files}};

int post_missing(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct files_asked asked = {0};
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1];
    int rc = body_read(&asked, request, reply, asked_fields, 1, "symbols");
    if (rc)
        return rc < 0 ? rc : MIRE_HTTP_DONE;
    rc = pg_begin(&tx, api->pg, MIRE_PG_READ);
    if (!rc)
        rc = rows_symbols_missing(asked.there, tx, request->grant.app_id, asked.ids, asked.debug, asked.count);
    if (rc)
        return rc;
    text_add(&reply->text, "{\"files\":[");
    for (size_t i = 0; i < asked.count; i++) {
        const struct symbol_there *there = &asked.there[i];
        hex_format(hex, asked.ids[i].bytes, asked.ids[i].len);
        text_printf(&reply->text, "%s{\"build_id\":\"%s\",\"kind\":\"%s\",\"missing\":%s", i ? "," : "", hex,
                    asked.debug[i] ? "debug" : "symtab", there->missing ? "true" : "false");
        hex_format(hex, there->hash, HASH);
        if (there->wanting)
            text_printf(&reply->text, ",\"hash\":\"%s\"", hex);
        if (there->wanting && there->defect[0]) {
            text_add(&reply->text, ",\"defect\":");
            text_add_json(&reply->text, there->defect, strlen(there->defect));
        }
        text_add(&reply->text, "}");
    }
    text_add(&reply->text, "]}");
    return reply_json(reply, 200);
}

/* --- files in parts --- */

static int answer_have(struct reply *reply, int status, int64_t have)
{
    text_printf(&reply->text, "{\"have_bytes\":%" PRId64 "}", have);
    return reply_json(reply, status);
}

/* The hash in the path; 1: the reply says that it is none. */
static int read_hash(uint8_t hash[HASH], const struct request *request, struct reply *reply)
{
    const char *text = request_param(request, 0);
    if (strlen(text) == 2 * HASH && hex_parse(hash, text, HASH))
        return 0;
    (void)reply_error(reply, request, 400, "symbols.hash",
                      "An upload is known by the BLAKE2b-256 of its file: %d digits.", 2 * HASH);
    return 1;
}

int get_upload(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    uint8_t hash[HASH];
    struct symbol_upload upload = {.app_id = request->grant.app_id, .hash = {hash, HASH}};
    int rc = read_hash(hash, request, reply);
    if (rc)
        return rc < 0 ? rc : MIRE_HTTP_DONE;
    rc = pg_begin(&tx, api->pg, MIRE_PG_READ);
    if (!rc)
        rc = rows_upload_have(&upload, tx);
    return rc ? rc : answer_have(reply, 200, upload.have_bytes);
}

static bool read_number(int64_t *out, const char *text)
{
    char *end = NULL;
    *out = text ? strtoll(text, &end, 10) : -1;
    return text && *text >= '0' && *text <= '9' && !*end && *out <= SIZE_MAX_;
}

struct upload_part {
    uint8_t hash[HASH];
    int64_t at, size;
    const char *name;
};

/* 0, 1: the reply says what is wrong. A part begins at a piece, and ends at one or with the file; behind the end an
 * empty one asks what came of it. */
static int read_part(struct upload_part *out, const struct request *request, struct reply *reply)
{
    uint8_t sum[HASH], given[HASH];
    const char *text = request_query(request, "sum");
    int rc = read_hash(out->hash, request, reply);
    if (!rc)
        rc = read_name(&out->name, request, reply);
    if (rc)
        return rc;
    int64_t len = (int64_t)request->body_len;
    bool good = read_number(&out->at, request_query(request, "at")) &&
                read_number(&out->size, request_query(request, "size")) && out->at <= out->size &&
                len <= out->size - out->at;
    bool end = good && out->at + len == out->size;
    if (!good || (len ? out->at % MIRE_SYMBOL_PIECE || (len % MIRE_SYMBOL_PIECE && !end) : !end || !out->size)) {
        (void)reply_error(reply, request, 400, "symbols.part",
                          "A part begins at a multiple of %u bytes, and ends at one or at the end of the file.",
                          MIRE_SYMBOL_PIECE);
        return 1;
    }
    hash_blake2b(sum, HASH, request->body, request->body_len);
    if (text && strlen(text) == 2 * HASH && hex_parse(given, text, HASH) && !memcmp(sum, given, HASH))
        return 0;
    (void)reply_error(reply, request, 422, "symbols.sum", "The part was damaged on the way: its BLAKE2b-256 differs.");
    return 1;
}

static int add_part(struct pg_tx *tx, struct symbol_upload *upload, const struct request *request)
{
    size_t room = ZSTD_compressBound(MIRE_SYMBOL_PIECE);
    MIRE_SCOPED(free_memory) char *frame = malloc(room);
    int rc = frame ? 0 : MIRE_FAULT_MEMORY;
    for (size_t at = 0; at < request->body_len && !rc; at += MIRE_SYMBOL_PIECE) {
        size_t left = request->body_len - at;
        size_t piece = left < MIRE_SYMBOL_PIECE ? left : MIRE_SYMBOL_PIECE;
        size_t n = ZSTD_compress(frame, room, request->body + at, piece, LEVEL);
        rc = ZSTD_isError(n) ? MIRE_FAULT_MEMORY : rows_upload_add(tx, upload, (struct pg_bytes){frame, n}, piece);
    }
    return rc;
}

/* All pieces into a file. */
static int put_together(int fd, struct pg_tx *tx, const struct symbol_upload *upload)
{
    MIRE_SCOPED(free_memory) char *piece = malloc(MIRE_SYMBOL_PIECE);
    int64_t left = upload->size_bytes;
    if (!piece)
        return MIRE_FAULT_MEMORY;
    for (int32_t part = 0; left > 0; part++) {
        MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
        int rc = rows_upload_piece(&rows, tx, upload, part);
        if (rc || !pg_row_count(rows))
            return rc ? rc : MIRE_FAULT_BROKEN;
        struct pg_bytes frame = pg_bytes(rows, 0, 0);
        size_t len = ZSTD_decompress(piece, MIRE_SYMBOL_PIECE, frame.bytes, frame.len);
        if (ZSTD_isError(len) || !len || (int64_t)len > left)
            return MIRE_FAULT_BROKEN;
        if (!write_all(fd, piece, len))
            return MIRE_FAULT_SYSTEM;
        left -= (int64_t)len;
    }
    return 0;
}

static bool has_hash(int fd, const uint8_t hash[HASH])
{
    struct file_bytes file;
    uint8_t sum[HASH];
    if (!file_bytes_map_fd(&file, fd))
        return false;
    hash_blake2b(sum, HASH, file.bytes, file.len);
    file_bytes_unmap(&file);
    return !memcmp(sum, hash, HASH);
}

static int forget_upload(const struct api *api, const struct symbol_upload *upload)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, api->pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_upload_drop(tx, upload);
    return rc ? rc : pg_commit(&tx);
}

/* Nothing is known of the upload: was it kept, and the answer lost? Else it has to be sent again. */
static int answer_ended(const struct symbol_upload *upload, struct pg_tx *tx, struct request *request,
                        struct reply *reply)
{
    struct symbol_file file;
    int found = rows_symbol_by_hash(&file, tx, request->arena, request->grant.app_id, upload->hash);
    if (found < 0)
        return found;
    if (!found)
        return answer_have(reply, 409, 0);
    text_add(&reply->text, "{\"files\":[");
    import_put(&reply->text, &file);
    text_add(&reply->text, "]}");
    return reply_json(reply, 201);
}

/* All parts have arrived. A file that cannot be kept is deleted, so that it can be sent again. */
static int end_upload(const struct api *api, struct request *request, struct reply *reply, struct symbol_upload *upload)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    bool kept = false;
    MIRE_SCOPED(close_fd) int fd = scratch(api);
    int rc = fd < 0 ? MIRE_FAULT_SYSTEM : pg_begin(&tx, api->pg, MIRE_PG_READ);
    if (!rc)
        rc = rows_upload_have(upload, tx);
    if (!rc && upload->have_bytes != upload->size_bytes)
        return answer_ended(upload, tx, request, reply);
    if (!rc)
        rc = put_together(fd, tx, upload);
    pg_end(&tx);
    if (rc)
        return rc;
    int done = has_hash(fd, upload->hash.bytes)
                   ? import_file(&kept, api, request, reply, fd, upload->name, upload)
                   : reply_error(reply, request, 422, "symbols.hash", "The BLAKE2b-256 of the whole file differs.");
    rc = done || kept ? 0 : forget_upload(api, upload);
    return rc ? rc : done;
}

/* Add a part, and commit it. 0: it was the last one; 1: the reply tells what is wanted next; or a fault. */
static int take_part(const struct api *api, struct request *request, struct reply *reply,
                     const struct upload_part *part, struct symbol_upload *upload)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, api->pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_upload_lock(upload, tx);
    if (rc < 0)
        return rc;
    if (rc) {
        (void)reply_error(reply, request, 409, "symbols.size", "That file was begun with another size.");
        return 1;
    }
    if (part->at != upload->have_bytes) {
        (void)answer_have(reply, 409, upload->have_bytes);
        return 1;
    }
    rc = add_part(tx, upload, request);
    if (!rc)
        rc = pg_commit(&tx);
    if (rc || upload->have_bytes == upload->size_bytes)
        return rc;
    (void)answer_have(reply, 202, upload->have_bytes);
    return 1;
}

int put_upload(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    struct upload_part part = {0};
    int rc = read_part(&part, request, reply);
    if (!rc)
        rc = refuse_full(api, request, reply);
    if (rc)
        return rc < 0 ? rc : MIRE_HTTP_DONE;
    struct symbol_upload upload = {
        .app_id = request->grant.app_id, .hash = {part.hash, HASH}, .size_bytes = part.size, .name = part.name};
    if (request->lane == MIRE_LANE_SLOW)
        return end_upload(api, request, reply, &upload);
    rc = request->body_len ? take_part(api, request, reply, &part, &upload) : 0;
    if (rc < 0)
        return rc;
    return rc ? MIRE_HTTP_DONE : MIRE_HTTP_SLOW;
}
