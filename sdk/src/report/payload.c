/* payload.c - diagnostics that the system itself has made: sealed as they are, and read by the server. */
#include "report/report.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "report/text.h"

#include <string.h>

/* Every diagnostic has its stacks under a name that begins so; metrics have none, and are no reports. */
#define STACKS "\"callStack"

static bool has_stacks(const char *json, size_t size)
{
    const size_t length = strlen(STACKS);

    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(json + i, STACKS, length) == 0)
            return true;
    return false;
}

enum mire_err mire__report_payload(struct store *store, enum store_format format, const char *json, size_t size,
                                   uint64_t now_ms)
{
    char id[MIRE_STORE_ID_LENGTH + 1];
    struct store_report sealed = {.id = id, .value = MIRE_VALUE_HANG, .format = format};
    uint8_t bytes[16];
    void *body;
    enum mire_err err;

    if (!has_stacks(json, size))
        return MIRE_E_ARG;
    mire__uuid7(bytes);
    mire__text_id(id, bytes);
    err = mire__text_pack(&body, &sealed.size, json, size);
    if (err != MIRE_OK)
        return err;
    sealed.body = body;
    err = mire__store_put(store, &sealed, now_ms);
    mire__free(body);
    return err;
}
