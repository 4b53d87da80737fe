/* keep.c - what a file holds, into symbol_file and its pieces. */
#include "api/keep.h"

#include "base/fault.h"
#include "base/scope.h"
#include "model/report.h"
#include "pg/key.h"
#include "pg/rekey.h"
#include "pg/symbol.h"

#include <stdlib.h>
#include <string.h>

#define HASH 32 /* bytes of a BLAKE2b-256 */

/* The app of the request's key; MIRE_KEY_UNKNOWN or a fault. */
static int key_app(int32_t *app_out, const struct api *api, const struct request *request)
{
    const char *key = request_bearer(request);
    uint8_t hash[MIRE_KEY_HASH];
    if (!key || !key_is_wellformed(key, strlen(key)))
        return MIRE_KEY_UNKNOWN;
    key_hash(hash, key, strlen(key));
    return pg_key_find(app_out, api->pg, hash, "symbols");
}

int keep_check_key(const struct api *api, const struct request *request, struct reply *reply)
{
    int32_t app_id;
    int rc = key_app(&app_id, api, request);
    if (rc != MIRE_KEY_UNKNOWN)
        return rc;
    reply_header(reply, "WWW-Authenticate", "Bearer");
    (void)reply_error(
        reply, request, 401, "key.unknown",
        "Send a key of scope symbols: Authorization: Bearer mk_... (mire key create APP --scope symbols)");
    return 1;
}

/* One item; its bytes lie in `file`, which is mapped. */
static int store(struct pg_tx *tx, const struct contents_item *item, const char *name, const struct file_bytes *file,
                 const struct pg_bytes *hash)
{
    const struct object_facts *facts = &item->facts;
    struct pg_bytes id = {facts->id, facts->id_len};
    bool debug = facts->has_dwarf;
    bool whole = hash && item->at == 0 && item->len == file->len;
    uint8_t own[HASH];
    struct symbol_file kept = {.build_id = id,
                               .debug = debug,
                               .arch = facts->arch,
                               .name = name,
                               .size_bytes = (int64_t)item->len,
                               .hash = whole ? *hash : (struct pg_bytes){own, sizeof own}};
    if (!whole)
        hash_blake2b(own, sizeof own, file->bytes + item->at, item->len);
    int rc = pg_symbol_begin(tx, &kept);
    if (!rc && whole)
        rc = pg_symbol_take(tx, id, debug, *hash);
    else if (!rc)
        rc = pg_symbol_put(tx, id, debug, file->bytes + item->at, item->len);
    return rc;
}

/* `flaw`: what is damaged, in ASCII. */
static void put_item(struct text *out, const struct contents_item *item, const char *name, const char *flaw)
{
    char hex[2 * MIRE_OBJECT_ID_MAX + 1];
    hex_format(hex, item->facts.id, item->facts.id_len);
    text_printf(out, "{\"build_id\":\"%s\",\"kind\":\"%s\",\"arch\":\"%s\",\"name\":", hex,
                item->facts.has_dwarf ? "debug" : "symtab", item->facts.arch);
    text_add_json(out, name, strlen(name));
    text_printf(out, ",\"size_bytes\":%llu,\"flaw\":", (unsigned long long)item->len);
    text_add_json(out, flaw, strlen(flaw));
    text_add(out, "}");
}

static int by_id(const void *a, const void *b)
{
    const struct object_facts *x = &((const struct contents_item *)a)->facts;
    const struct object_facts *y = &((const struct contents_item *)b)->facts;
    size_t len = x->id_len < y->id_len ? x->id_len : y->id_len;
    int order = memcmp(x->id, y->id, len);
    order = order ? order : (x->id_len > y->id_len) - (x->id_len < y->id_len);
    return order ? order : x->has_dwarf - y->has_dwarf;
}

/* The one mapping of Java names among the items; NULL: there is none, or several. */
static const struct contents_item *only_mapping(const struct contents *contents)
{
    const struct contents_item *found = NULL;
    for (size_t i = 0; i < contents->count; i++) {
        enum object_format format = contents->rows[i].facts.format;
        if (format != MIRE_FORMAT_MAPPING && format != MIRE_FORMAT_METHODMAP)
            continue;
        if (found)
            return NULL;
        found = &contents->rows[i];
    }
    return found;
}

/* ?version=&build=: the mapping is that of a version of the key's app. 0, 1: the reply says what is wrong, or a fault.
 */
static int keep_version(const struct api *api, const struct request *request, struct reply *reply, struct pg_tx *tx,
                        const struct contents *contents)
{
    const char *told = request_query(request, "version"), *build = request_query(request, "build");
    const struct contents_item *mapping = only_mapping(contents);
    struct symbol_version version = {.version = told ? told : "", .build = build ? build : ""};
    uint8_t alias[MIRE_BUILD_ID_MAX];
    int rc = 0;
    if (!version.version[0])
        return 0;
    if (!mapping) {
        (void)reply_error(reply, request, 422, "symbols.version",
                          "Only a mapping of Java names has a version; send one, alone.");
        return 1;
    }
    rc = key_app(&version.app_id, api, request);
    if (rc)
        return rc < 0 ? rc : MIRE_FAULT_RACED;
    mapping_id(alias, version.app_id, version.version, version.build);
    version.alias = (struct pg_bytes){alias, sizeof alias};
    rc = pg_symbol_version(tx, (struct pg_bytes){mapping->facts.id, mapping->facts.id_len}, &version);
    return rc ? rc : pg_symbol_arrived(tx, version.alias);
}

/* All items by rising build id, so that two uploads never wait for each other in a circle; then that they came. */
static int store_all(const struct api *api, struct reply *reply, struct pg_tx *tx, struct contents *contents,
                     const char *name, const struct pg_bytes *hash)
{
    struct file_bytes file;
    char flaw[MIRE_SYMBOL_WHY];
    int rc = 0;
    if (!file_bytes_map_fd(&file, contents->fd))
        return MIRE_FAULT_SYSTEM;
    qsort(contents->rows, contents->count, sizeof *contents->rows, by_id);
    text_add(&reply->text, "{\"files\":[");
    for (size_t i = 0; !rc && i < contents->count; i++) {
        const struct contents_item *item = &contents->rows[i];
        const char *own = item->name[0] ? item->name : name;
        rc = store(tx, item, own, &file, contents->own ? NULL : hash);
        if (!rc && contents_check(flaw, contents, item, api->scratch_dir, api->converter) == CONTENTS_FAILED)
            rc = MIRE_FAULT_SYSTEM;
        text_add(&reply->text, i ? "," : "");
        put_item(&reply->text, item, own, flaw);
    }
    text_add(&reply->text, "]}");
    for (size_t i = 0; !rc && i < contents->count; i++)
        rc = pg_symbol_arrived(tx, (struct pg_bytes){contents->rows[i].facts.id, contents->rows[i].facts.id_len});
    file_bytes_unmap(&file);
    return rc;
}

int keep_file(bool *kept_out, const struct api *api, const struct request *request, struct reply *reply,
              struct pg_tx *tx, int fd, const char *name, const struct pg_bytes *hash)
{
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    int rc = 0;
    *kept_out = false;
    switch (contents_open(&contents, why, fd, api->scratch_dir, api->converter)) {
    case CONTENTS_GOOD:
        rc = keep_version(api, request, reply, tx, &contents);
        if (rc > 0) {
            rc = MIRE_HTTP_DONE;
            break;
        }
        if (!rc)
            rc = store_all(api, reply, tx, &contents, name, hash);
        *kept_out = !rc;
        rc = rc ? rc : reply_json(reply, 201);
        break;
    case CONTENTS_WRONG:
        rc = reply_error(reply, request, 422, "symbols.file", "The file %s.", why);
        break;
    default:
        rc = MIRE_FAULT_SYSTEM;
    }
    contents_close(&contents);
    return rc;
}
