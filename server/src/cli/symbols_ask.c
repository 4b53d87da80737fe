/*
 * symbols_ask.c - which of the files found here the server has a use for.
 */
#include "cli/symbols_send.h"

#include "base/id.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define HASH        32
#define ASK_AT_ONCE 500

/* The server has the file with the content of that hash, and reports miss it all the same: a file with other content
 * may serve them. */
static bool has_other_contents(const struct found_file *file, const struct json *json, uint32_t hash)
{
    struct file_bytes whole, bytes;
    char digits[2 * HASH];
    uint8_t there[HASH], own[HASH];

    if (json_kind(json, hash) != MIRE_JSON_STRING || json_size(json, hash) != sizeof digits ||
        json_text(digits, json, hash) != sizeof digits || !hex_parse(there, digits, HASH) ||
        !symbols_map(&whole, &bytes, file))
        return false;
    hash_blake2b(own, HASH, bytes.bytes, bytes.len);
    file_bytes_unmap(&whole);
    return memcmp(own, there, HASH) != 0;
}

/* The n-th row of the answer is that of the n-th file asked for. */
static int read_missing(struct found_file *files, size_t count, const struct text *answer)
{
    static const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json json;
    struct json_fault fault;
    int rc = -1;

    json_init(&json);
    if (json_read(&json, &fault, answer->bytes, answer->len, &limits) == MIRE_JSON_OK) {
        uint32_t list = json_member(&json, 0, "files");
        if (list && json_kind(&json, list) == MIRE_JSON_ARRAY && json_size(&json, list) == count) {
            uint32_t at = list + 1;
            for (size_t i = 0; i < count; i++, at = json_next(&json, at)) {
                uint32_t value = json_member(&json, at, "missing");
                uint32_t hash = json_member(&json, at, "hash");
                files[i].missing = (value && json_kind(&json, value) == MIRE_JSON_TRUE) ||
                                   (hash && has_other_contents(&files[i], &json, hash));
                if (!files[i].missing)
                    symbols_read_words(files[i].defect, &json, at, "defect");
            }
            rc = 0;
        }
    }
    json_fini(&json);
    if (rc)
        say(stderr, "mire symbols: the server's answer cannot be read\n");
    return rc;
}

static int ask_some(struct found_file *files, size_t count, const struct send_options *options)
{
    MIRE_SCOPED(text_fini) struct text body = {0};
    MIRE_SCOPED(text_fini) struct text answer = {0};
    MIRE_SCOPED(text_fini) struct text url = {0};
    char hex[2 * MIRE_OBJECT_ID_MAX + 1];
    text_add(&body, "{\"files\":[");
    for (size_t i = 0; i < count; i++) {
        hex_format(hex, files[i].item.facts.id, files[i].item.facts.id_len);
        text_printf(&body, "%s{\"build_id\":\"%s\",\"kind\":\"%s\"}", i ? "," : "", hex,
                    files[i].item.facts.has_dwarf ? "debug" : "symtab");
    }
    text_add(&body, "]}");
    fetch_api_url(&url, options->server);
    text_add(&url, "/symbols/missing");
    if (text_failed(&body) || text_failed(&url) || fetch_send(&answer, "POST", url.bytes, options->key, &body))
        return -1;
    return read_missing(files, count, &answer);
}

int symbols_ask_missing(struct found *found, const struct send_options *options)
{
    int rc = 0;
    for (size_t at = 0; !rc && at < found->count; at += ASK_AT_ONCE) {
        size_t left = found->count - at;
        rc = ask_some(found->files + at, left < ASK_AT_ONCE ? left : ASK_AT_ONCE, options);
    }
    return rc;
}
