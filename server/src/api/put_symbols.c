/*
 * put_symbols.c - PUT /api/v1/symbols: one ELF or Mach-O file, kept under its build id for symbolication.
 *
 * The file is looked at before it is stored, by a reader that trusts nothing in it. Sending it again replaces it with
 * the same.
 */
#include "api/api.h"
#include "api/handlers.h"

#include "base/fault.h"
#include "object/object.h"
#include "pg/key.h"
#include "pg/rekey.h"
#include "pg/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL        3
#define NAME_MAX_LEN 255

static int refuse_key(struct reply *reply, const struct request *request)
{
    reply_header(reply, "WWW-Authenticate", "Bearer");
    return reply_error(
        reply, request, 401, "key.unknown",
        "Send a key of scope symbols: Authorization: Bearer mk_... (mire key create APP --scope symbols)");
}

/* 0: the request carries a key that may upload; MIRE_KEY_UNKNOWN: it does not; below zero a fault. */
static int check_key(struct pg *pg, const struct request *request)
{
    const char *key = request_bearer(request);
    uint8_t hash[MIRE_KEY_HASH];
    int32_t app_id;
    if (!key || !key_is_wellformed(key, strlen(key)))
        return MIRE_KEY_UNKNOWN;
    key_hash(hash, key, strlen(key));
    return pg_key_find(&app_id, pg, hash, "symbols");
}

static int store_pieces(struct pg_tx *tx, struct pg_bytes id, bool debug, const uint8_t *body, size_t len)
{
    size_t room = ZSTD_compressBound(MIRE_SYMBOL_PIECE);
    MIRE_SCOPED(free_memory) char *frame = malloc(room);
    if (!frame)
        return MIRE_FAULT_MEMORY;
    int rc = 0;
    int32_t part = 0;
    for (size_t at = 0; at < len && !rc; at += MIRE_SYMBOL_PIECE, part++) {
        size_t piece = len - at < MIRE_SYMBOL_PIECE ? len - at : MIRE_SYMBOL_PIECE;
        size_t n = ZSTD_compress(frame, room, body + at, piece, LEVEL);
        rc = ZSTD_isError(n) ? MIRE_FAULT_MEMORY : pg_symbol_add(tx, id, debug, part, (struct pg_bytes){frame, n});
    }
    return rc;
}

static int store(struct pg *pg, const struct object_facts *facts, const char *name, const uint8_t *body, size_t len)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct pg_bytes id = {facts->id, facts->id_len};
    bool debug = facts->has_dwarf;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = pg_symbol_begin(tx, id, debug, facts->arch, name, (int64_t)len);
    if (!rc)
        rc = store_pieces(tx, id, debug, body, len);
    if (!rc)
        rc = pg_symbol_arrived(tx, id);
    return rc ? rc : pg_commit(&tx);
}

static int answer(struct reply *reply, const struct object_facts *facts, const char *name, size_t len)
{
    char hex[2 * MIRE_OBJECT_ID_MAX + 1];
    hex_format(hex, facts->id, facts->id_len);
    text_printf(&reply->text, "{\"build_id\":\"%s\",\"kind\":\"%s\",\"arch\":\"%s\",\"name\":", hex,
                facts->has_dwarf ? "debug" : "symtab", facts->arch);
    text_add_json(&reply->text, name, strlen(name));
    text_printf(&reply->text, ",\"size_bytes\":%zu}", len);
    return reply_json(reply, 201);
}

int put_symbols(void *api, struct request *request, struct reply *reply)
{
    struct pg *pg = ((struct api *)api)->pg;
    struct object_facts facts;
    const char *name = request_query(request, "name");
    int rc = check_key(pg, request);
    if (rc)
        return rc < 0 ? rc : refuse_key(reply, request);
    if (name && strlen(name) > NAME_MAX_LEN)
        return reply_error(reply, request, 400, "symbols.name", "The name has more than %d bytes.", NAME_MAX_LEN);
    const char *wrong = object_look(&facts, request->body, request->body_len, NULL, 0);
    if (wrong)
        return reply_error(reply, request, 422, "symbols.elf", "The file %s.", wrong);
    if (!facts.id_len)
        return reply_error(reply, request, 422, "symbols.build_id",
                           "The file has no GNU build id (link with -Wl,--build-id), and no UUID.");
    if (facts.universal)
        return reply_error(reply, request, 422, "symbols.universal",
                           "The file holds several architectures; send each by itself (lipo -thin).");
    if (!facts.has_dwarf && !facts.has_symbols)
        return reply_error(reply, request, 422, "symbols.empty",
                           "The file has neither DWARF nor a symbol table; send the unstripped or the debug file.");
    rc = store(pg, &facts, name ? name : "", request->body, request->body_len);
    return rc ? rc : answer(reply, &facts, name ? name : "", request->body_len);
}
