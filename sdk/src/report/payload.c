/* payload.c - diagnostics that the system itself has made: sealed as they are, and read by the server. */
#include "report/report.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "report/text.h"
#include "store/ends.h"
#include "wire/names.h"

#include <string.h>

/* Every diagnostic has its stacks under a name that begins so; of metrics, those with counts of exits are sent. */
static const char *const kept[] = {"\"callStack", "\"applicationExitMetrics\"", "\"foregroundTermination",
                                   "\"backgroundTermination"};
#define BLANKS " \t\r\n"

struct known {
    char install[33];
    size_t count;
    struct store_end runs[MIRE_STORE_ENDS + 1]; /* the one that lasts is the last, without a verdict */
};

static bool holds(const char *json, size_t size, const char *text)
{
    const size_t length = strlen(text);

    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(json + i, text, length) == 0)
            return true;
    return false;
}

static bool is_kept(const char *json, size_t size)
{
    for (size_t i = 0; i < MIRE_COUNT(kept); i++) {
        if (holds(json, size, kept[i]))
            return true;
    }
    return false;
}

static void write_known(struct wire *wire, const void *context)
{
    const struct known *known = context;

    mire__wire_object(wire, NULL);
    mire__wire_object(wire, MIRE_NAME_MIRE);
    mire__wire_text(wire, MIRE_NAME_INSTALL, known->install, sizeof(known->install));
    mire__wire_array(wire, MIRE_NAME_RUNS);
    for (size_t i = 0; i < known->count; i++) {
        const struct store_end *run = &known->runs[i];

        mire__wire_object(wire, NULL);
        mire__wire_u64(wire, MIRE_NAME_PID, run->pid);
        mire__wire_u64(wire, MIRE_NAME_START_WALL_MS, run->start_wall_ms);
        mire__wire_u64(wire, MIRE_NAME_SEEN_WALL_MS, run->seen_wall_ms);
        if (run->verdict[0])
            mire__wire_text(wire, MIRE_NAME_VERDICT, run->verdict, sizeof(run->verdict));
        mire__wire_end(wire);
    }
    mire__wire_end(wire);
    mire__wire_end(wire);
    mire__wire_end(wire);
}

static enum mire_err add_known(char **text_out, size_t *size_out, struct store *store, const struct blackbox_facts *now,
                               uint64_t now_ms)
{
    struct known *known = mire__calloc(1, sizeof(*known));
    enum mire_err err = known ? mire__store_install(known->install, store) : MIRE_E_MEMORY;

    *text_out = NULL;
    if (err == MIRE_OK) {
        known->count = mire__store_ends(known->runs, MIRE_STORE_ENDS, store);
        known->runs[known->count++] =
            (struct store_end){.pid = now->pid, .start_wall_ms = now->start_wall_ms, .seen_wall_ms = now_ms};
        err = mire__text_write(text_out, size_out, write_known, known);
    }
    mire__free(known);
    return err;
}

/* Put the members of `known` in front of those of the payload: {"mire":{...},"timeStampEnd":... */
static enum mire_err join(char **text_out, size_t *size_out, const char *known, size_t known_size, const char *json,
                          size_t size)
{
    size_t at = 0;

    while (at < size && strchr(BLANKS, json[at]) && json[at])
        at++;
    at += at < size && json[at] == '{'; /* not an object: the payload alone */
    if (at == 0 || json[at - 1] != '{')
        known_size = at = 0;
    *size_out = known_size + size - at;
    *text_out = mire__malloc(*size_out);
    if (!*text_out)
        return MIRE_E_MEMORY;
    memcpy(*text_out, known, known_size);
    if (known_size > 0)
        (*text_out)[known_size - 1] = ','; /* in place of the end of the object */
    memcpy(*text_out + known_size, json + at, size - at);
    return MIRE_OK;
}

enum mire_err mire__report_payload(struct store *store, enum store_format format, const char *json, size_t size,
                                   const struct blackbox_facts *now, uint64_t now_ms)
{
    char id[MIRE_STORE_ID_LENGTH + 1], *known = NULL, *text = NULL;
    struct store_report sealed = {.id = id, .value = MIRE_VALUE_HANG, .format = format};
    size_t known_size = 0, text_size = 0;
    uint8_t bytes[16];
    void *body = NULL;
    enum mire_err err;

    if (!is_kept(json, size))
        return MIRE_E_ARG;
    mire__uuid7(bytes);
    mire__text_id(id, bytes);
    err = add_known(&known, &known_size, store, now, now_ms);
    if (err == MIRE_OK)
        err = join(&text, &text_size, known, known_size, json, size);
    if (err == MIRE_OK)
        err = mire__text_pack(&body, &sealed.size, text, text_size);
    sealed.body = body;
    if (err == MIRE_OK)
        err = mire__store_put(store, &sealed, now_ms);
    mire__free(known);
    mire__free(text);
    mire__free(body);
    return err;
}
