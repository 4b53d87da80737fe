/*
 * remote.c - see remote.h.
 */
#include "core/remote.h"

#include "platform/platform.h"
#include "report/report.h"
#include "rollout/rollout.h"

#include <stdio.h>
#include <string.h>

#define PATH      "/api/v1/rollout"
#define RETRY_S   60u /* after the first failure; doubles with each further one */
#define DOUBLINGS 15u

static bool is_plain(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           (byte != '\0' && strchr("-._~", byte));
}

/* Append "&name=value", escaped, if there is a value and room. */
static void add(char *path, const char *name, const char *value)
{
    size_t begin = strlen(path), at = begin;

    if (!value[0])
        return;
    at += (size_t)snprintf(path + at, MIRE_REMOTE_PATH_BYTES - at, "%c%s=", strchr(path, '?') ? '&' : '?', name);
    for (; *value && at + 4 < MIRE_REMOTE_PATH_BYTES; value++)
        at += (size_t)snprintf(path + at, 4, is_plain((unsigned char)*value) ? "%c" : "%%%02X", (unsigned char)*value);
    if (*value)
        path[begin] = '\0';
}

/* Read the document in the store. */
static void read_kept(struct rollout *out, char etag[MIRE_STORE_ETAG_BYTES], struct store *store)
{
    char text[MIRE_WIRE_ROLLOUT_MAX];
    size_t size = mire__store_rollout(etag, text, sizeof(text), store);

    mire__rollout_init(out);
    if (size == 0 || mire__rollout_read(out, text, size) != MIRE_OK)
        etag[0] = '\0'; /* a damaged document is requested again */
}

void mire__remote_init(struct remote *remote, const struct blackbox_facts *facts, struct store *store)
{
    char etag[MIRE_STORE_ETAG_BYTES], class[MIRE_REPORT_CLASS_BYTES];
    struct rollout kept;

    memset(remote, 0, sizeof(*remote));
    snprintf(remote->path, sizeof(remote->path), PATH);
    add(remote->path, "install", facts->install);
    add(remote->path, "version", facts->app_version);
    add(remote->path, "channel", facts->app_channel);
    add(remote->path, "os", facts->os);
    add(remote->path, "os_version", facts->os_version);
    mire__report_class(class, facts->memory_bytes);
    add(remote->path, "class", facts->device_class[0] ? facts->device_class : class);
    add(remote->path, "arch", facts->arch);
    read_kept(&kept, etag, store);
    remote->killed = kept.kill;
}

/* Returns true if the answer has a valid document. An invalid one leaves the last valid one in place. */
static bool ask(struct remote *remote, struct upload *upload, struct store *store, struct rollout *kept,
                const struct upload_now *now)
{
    char text[MIRE_WIRE_ROLLOUT_MAX], etag[MIRE_STORE_ETAG_BYTES];
    struct upload_answer answer = {.text = text, .cap = sizeof(text)};
    struct rollout fresh;

    read_kept(kept, etag, store);
    switch (mire__upload_fetch(upload, &answer, remote->path, etag, now)) {
    case FETCH_NEW:
        if (mire__rollout_read(&fresh, text, answer.size) != MIRE_OK)
            return false;
        *kept = fresh; /* obeyed even if it cannot be stored */
        return mire__store_set_rollout(store, answer.etag, text, answer.size) == MIRE_OK;
    case FETCH_SAME:
    case FETCH_NONE:
        return true;
    case FETCH_LATER:
        break;
    }
    return false;
}

static uint64_t wait_s(const struct remote *remote, uint32_t fetch_s)
{
    uint32_t doublings = remote->failures < DOUBLINGS ? remote->failures : DOUBLINGS;
    uint64_t retry_s = ((uint64_t)RETRY_S << doublings) / 2;

    return remote->failures == 0 || retry_s > fetch_s ? fetch_s : retry_s;
}

uint64_t mire__remote_step(struct remote *remote, struct upload *upload, struct store *store, uint64_t now_ns,
                           const struct upload_now *now)
{
    struct rollout kept;
    uint32_t random;

    if (!upload || !mire__upload_may_ask(upload))
        return UINT64_MAX;
    if (now_ns < remote->due_ns)
        return remote->due_ns;
    remote->failures = ask(remote, upload, store, &kept, now) ? 0 : remote->failures + 1;
    remote->killed = kept.kill;
    mire__random(&random, sizeof(random));
    uint64_t wait_ns = wait_s(remote, kept.fetch_s) * MIRE_NS_PER_S;
    remote->due_ns = now_ns + wait_ns - wait_ns / 10 + wait_ns / 5 * random / UINT32_MAX;
    return remote->due_ns;
}
