/* filter.c - see filter.h. */
#include "upload/filter.h"

#include "base/alloc.h"
#include "upload/unpack.h"

enum mire_err mire__filter_ask(const struct upload_options *options, const void *body, size_t size)
{
    enum mire_err err;
    char *json;
    size_t json_size;

    if (!options->before_send)
        return MIRE_OK;
    err = mire__unpack(&json, &json_size, MIRE_FILTER_JSON_MAX, body, size);
    if (err != MIRE_OK)
        return err;
    if (options->before_send(options->before_send_context, json, json_size))
        err = MIRE_E_STATE;
    mire__free(json);
    return err;
}
