/* The JSON reader, strict and tolerant: any accepted text can be walked and queried in every way. */
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct json *json)
{
    char *out = malloc(json->count ? 1 << 16 : 1);
    for (uint32_t at = 0; out && at < json->count; at++) {
        uint64_t u;
        int64_t i;
        if (json_next(json, at) <= at || json_next(json, at) > json->count)
            abort();
        (void)json_u64(&u, json, at);
        (void)json_i64(&i, json, at);
        (void)json_double(json, at);
        if (json_kind(json, at) == MIRE_JSON_STRING) {
            if (json_size(json, at) < 1 << 16 && json_text(out, json, at) > json_size(json, at))
                abort();
            (void)json_is(json, at, "name");
        }
        if (json_kind(json, at) == MIRE_JSON_OBJECT)
            (void)json_member(json, at, "a");
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json json;
    struct json_fault fault;
    struct json_limits limits = MIRE_JSON_LIMITS;
    limits.values_max = 1 << 12; /* the walk above is quadratic */
    json_init(&json);
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        limits.tolerant = tolerant;
        if (json_read(&json, &fault, (const char *)data, size, &limits) == MIRE_JSON_OK)
            ask(&json);
        else if (fault.at > size)
            abort();
    }
    json_fini(&json);
    return 0;
}
