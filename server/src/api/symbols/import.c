/* import.c - what a file holds, into symbol_file and its pieces. */
#include "api/symbols/import.h"

#include "api/call.h"
#include "base/fault.h"
#include "base/scope.h"
#include "model/report.h"
#include "rows/audit.h"
#include "rows/rekey.h"
#include "archive/contents.h"
#include "sandbox/open.h"

#include <stdlib.h>
#include <string.h>

#define HASH        32 /* bytes of a BLAKE2b-256 */
#define AUDIT_FILES 20 /* of an upload that its row of the audit log names */

void import_put(struct text *out, const struct symbol_file *file)
{
    char hex[2 * MIRE_OBJECT_ID_MAX + 1];
    hex_format(hex, file->build_id.bytes, file->build_id.len);
    text_printf(out, "{\"build_id\":\"%s\",\"kind\":\"%s\",\"arch\":\"%s\",\"name\":", hex,
                file->debug ? "debug" : "symtab", file->arch);
    text_add_json(out, file->name, strlen(file->name));
    text_printf(out, ",\"size_bytes\":%lld,\"defect\":", (long long)file->size_bytes);
    text_add_json(out, file->defect, strlen(file->defect));
    text_printf(out, ",\"depth\":\"%s\",\"instead\":", file->depth);
    const char *instead = file->instead ? file->instead : "";
    text_add_json(out, instead, strlen(instead));
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

/*
 * ?version=&build=, or else what the manifest of an .aab or .apk says: the mapping is that of a version of the key's
 * app. 0, 1: the reply says what is wrong, or a fault.
 */
static int import_version(const struct request *request, struct reply *reply, struct pg_tx *tx,
                          const struct contents *contents)
{
    const char *given = request_query(request, "version"), *build = request_query(request, "build");
    const struct contents_item *mapping = only_mapping(contents);
    struct symbol_version version = {.version = given ? given : "", .build = build ? build : ""};
    uint8_t alias[MIRE_MAPPING_ID_LEN];
    int rc = 0;
    if (!version.version[0] && mapping) {
        version.version = contents->version.version;
        version.build = contents->version.build;
    }
    if (!version.version[0])
        return 0;
    if (!mapping) {
        (void)reply_error(reply, request, 422, "symbols.version",
                          "Only a mapping of Java names has a version; send one, alone.");
        return 1;
    }
    version.app_id = request->grant.app_id;
    mapping_id(alias, version.app_id, version.version, version.build);
    version.alias = (struct pg_bytes){alias, sizeof alias};
    rc = rows_symbol_version(tx, (struct pg_bytes){mapping->facts.id, mapping->facts.id_len}, &version);
    return rc ? rc : rows_symbol_arrived(tx, version.app_id, version.alias);
}

/* Reads all items in the child: which are kept, and their damaged parts. NULL and *rc: a fault. */
static struct symbol_file *judge_items(int *rc, const struct api *api, const struct request *request,
                                       const struct contents *contents, const struct file_bytes *file, const char *name,
                                       const struct symbol_upload *upload)
{
    struct symbol_file *kept = arena_array(request->arena, contents->count, sizeof *kept);
    *rc = kept ? 0 : MIRE_FAULT_MEMORY;
    for (size_t i = 0; !*rc && i < contents->count; i++) {
        const struct contents_item *item = &contents->rows[i];
        static const char *const depths[] = {"", "names", "lines", "dwarf"};
        enum symbol_depth depth;
        char defect[MIRE_SYMBOL_WHY];
        bool whole = upload && item->at == 0 && item->len == file->len;
        uint8_t *hash = whole ? NULL : arena_alloc(request->arena, HASH);
        kept[i] = (struct symbol_file){.app_id = request->grant.app_id,
                                       .build_id = {item->facts.id, item->facts.id_len},
                                       .debug = item->facts.has_dwarf,
                                       .arch = item->facts.arch,
                                       .name = item->name[0] ? item->name : name,
                                       .size_bytes = (int64_t)item->len,
                                       .hash = whole ? upload->hash : (struct pg_bytes){hash, HASH}};
        if (hash)
            hash_blake2b(hash, HASH, file->bytes + item->at, item->len);
        if (contents_check(defect, &depth, contents, item, api->scratch_dir, api->converter) == CONTENTS_FAILED)
            *rc = MIRE_FAULT_SYSTEM;
        kept[i].depth = depths[depth];
        kept[i].defect = arena_strdup(request->arena, defect);
        if (!kept[i].hash.bytes || !kept[i].defect)
            *rc = MIRE_FAULT_MEMORY;
    }
    return *rc ? NULL : kept;
}

static const char *depth_words(const char *depth)
{
    if (!strcmp(depth, "names"))
        return "names alone";
    return !strcmp(depth, "lines") ? "only lines" : "DWARF";
}

/* "app.debug is used, which has DWARF; this file has only lines" */
static int use_better(struct symbol_file *kept, const struct symbol_file *better, struct arena *arena)
{
    const char *name = better->name[0] ? better->name : "the file that is there";
    if (kept->defect[0] && !better->defect[0])
        kept->instead = arena_printf(arena, "%s is used, which is whole; this file is damaged", name);
    else if (strcmp(kept->depth, better->depth) != 0)
        kept->instead = arena_printf(arena, "%s is used, which has %s; this file has %s", name,
                                     depth_words(better->depth), depth_words(kept->depth));
    else
        kept->instead = arena_printf(arena, "%s is used, which has as much and arrived later", name);
    return kept->instead ? 0 : MIRE_FAULT_MEMORY;
}

static bool is_same(const struct symbol_file *a, const struct symbol_file *b)
{
    return a->debug == b->debug && a->build_id.len == b->build_id.len &&
           !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.len);
}

/* One item; its bytes lie in `file`, which is mapped. */
static int store(struct pg_tx *tx, struct arena *arena, struct symbol_file *kept, const struct contents_item *item,
                 const struct file_bytes *file, const struct symbol_upload *upload)
{
    struct symbol_file there;
    int rc = rows_symbol_begin(tx, kept);
    if (rc > 0) {
        rc = rows_symbol_there(&there, tx, arena, kept);
        if (rc > 0)
            return use_better(kept, &there, arena);
        return rc < 0 ? rc : MIRE_FAULT_RACED;
    }
    if (!rc && upload && kept->hash.bytes == upload->hash.bytes)
        return rows_symbol_take(tx, upload);
    return rc ? rc : rows_symbol_put(tx, kept->hash, file->bytes + item->at, item->len);
}

/* All items by rising build id, so that two uploads never wait for each other in a circle; then that they came. */
static int store_all(struct pg_tx *tx, struct arena *arena, struct symbol_file *kept, const struct contents *contents,
                     const struct file_bytes *file, const struct symbol_upload *upload)
{
    struct symbol_upload now = upload ? *upload : (struct symbol_upload){0};
    int rc = upload ? rows_upload_lock(&now, tx) : 0;
    if (rc > 0 || (!rc && upload && now.have_bytes != upload->size_bytes))
        rc = MIRE_FAULT_RACED;
    for (size_t i = 0; !rc && i < contents->count; i++)
        rc = store(tx, arena, &kept[i], &contents->rows[i], file, upload);
    for (size_t i = 1; !rc && i < contents->count; i++) /* of one archive, by id */
        if (is_same(&kept[i], &kept[i - 1]) && !kept[i].instead && !kept[i - 1].instead)
            rc = use_better(&kept[i - 1], &kept[i], arena);
    for (size_t i = 0; !rc && i < contents->count; i++)
        rc = rows_symbol_arrived(tx, kept[i].app_id, kept[i].build_id);
    return rc || !upload ? rc : rows_upload_drop(tx, upload);
}

/* One row of the audit log for an upload, whatever it holds. 0 or a fault. */
static int write_audit(struct pg_tx *tx, const struct request *request, const struct symbol_file *kept, size_t count)
{
    MIRE_SCOPED(text_fini) struct text after = {0};
    for (size_t i = 0; i < count && i < AUDIT_FILES; i++) {
        char id[2 * MIRE_SYMBOL_ID_MAX + 1];
        hex_format(id, kept[i].build_id.bytes, kept[i].build_id.len);
        text_printf(&after, "%s%s %s %s%s", i ? ", " : "", id, kept[i].arch, kept[i].depth,
                    kept[i].instead ? " (a better one stays)" : "");
    }
    if (count > AUDIT_FILES)
        text_printf(&after, " and %zu more", count - AUDIT_FILES);
    text_append(&after, "", 1);
    if (text_failed(&after))
        return MIRE_FAULT_MEMORY;
    return audit_request(tx, request,
                         &(struct audit_row){.app = request->grant.app_id,
                                             .action = "symbols.added",
                                             .subject = count && kept[0].name[0] ? kept[0].name : "a file",
                                             .after = after.bytes});
}

/* The file holds something: judge it, then store it. MIRE_HTTP_DONE or a fault. */
static int import_contents(bool *imported_out, const struct api *api, const struct request *request,
                           struct reply *reply, struct contents *contents, const char *name,
                           const struct symbol_upload *upload)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct file_bytes file;
    int rc;
    if (!file_bytes_map_fd(&file, contents->fd))
        return MIRE_FAULT_SYSTEM;
    qsort(contents->rows, contents->count, sizeof *contents->rows, by_id);
    struct symbol_file *kept = judge_items(&rc, api, request, contents, &file, name, contents->own ? NULL : upload);
    if (!rc)
        rc = pg_begin(&tx, api->pg, MIRE_PG_WRITE);
    if (!rc)
        rc = import_version(request, reply, tx, contents);
    if (!rc)
        rc = store_all(tx, request->arena, kept, contents, &file, upload);
    file_bytes_unmap(&file);
    if (!rc)
        rc = write_audit(tx, request, kept, contents->count);
    if (!rc)
        rc = pg_commit(&tx);
    if (rc)
        return rc > 0 ? MIRE_HTTP_DONE : rc;
    text_add(&reply->text, "{\"files\":[");
    for (size_t i = 0; i < contents->count; i++) {
        text_add(&reply->text, i ? "," : "");
        import_put(&reply->text, &kept[i]);
    }
    text_add(&reply->text, "]}");
    *imported_out = true;
    return reply_json(reply, 201);
}

int import_file(bool *imported_out, const struct api *api, const struct request *request, struct reply *reply, int fd,
                const char *name, const struct symbol_upload *upload)
{
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    int rc;
    *imported_out = false;
    switch (contents_open(&contents, why, fd, api->scratch_dir, api->converter)) {
    case CONTENTS_GOOD:
        rc = import_contents(imported_out, api, request, reply, &contents, name, upload);
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
