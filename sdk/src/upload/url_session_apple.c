/*
 * url_session_apple.c - see curl.h: NSURLSession, called through the ObjC runtime. The worker waits for each answer, and
 * cancels the task when it has to end.
 *
 * A report that is not small does not go over a network in Low Data Mode, as over a metered one: the system refuses the
 * request, and the report waits (allowsConstrainedNetworkAccess).
 */
#include "upload/curl.h"

#include "base/alloc.h"
#include "base/base.h"
#include "platform/platform.h"
#include "upload/background.h"
#include "upload/messages.h"
#include "upload/rules.h"
#include "upload/unpack.h"
#include "wire/clock.h"

#include <dispatch/dispatch.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdio.h>
#include <string.h>

#define TRANSFER_S 60.0
#define CANCEL_NS  (100 * MIRE_NS_PER_MS)

extern void *objc_autoreleasePoolPush(void);
extern void objc_autoreleasePoolPop(void *pool);

struct session_client {
    id session;
    bool background; /* bodies go by the background session */
    char *url;       /* the server's, without a slash at the end */
    char *authorization;
};

/* An answer that the session's queue fills in, while the worker waits for it. */
struct awaited_answer {
    struct upload_answer *answer;
    dispatch_semaphore_t done;
};

/* ---- messages ---- */

static const char *utf8_of(id string)
{
    return string ? ((const char *(*)(id, SEL))objc_msgSend)(string, sel_registerName("UTF8String")) : NULL;
}

static unsigned long length_of(id data)
{
    return data ? ((unsigned long (*)(id, SEL))objc_msgSend)(data, sel_registerName("length")) : 0;
}

/* ---- a request ---- */

static void set_header(id request, const char *name, const char *value)
{
    ((void (*)(id, SEL, id, id))objc_msgSend)(request, sel_registerName("setValue:forHTTPHeaderField:"),
                                              mire__text(value), mire__text(name));
}

/* "Name: value" */
static void set_header_line(id request, const char *line)
{
    char name[64];
    size_t length = strcspn(line, ":");

    if (length >= sizeof(name))
        return;
    memcpy(name, line, length);
    name[length] = '\0';
    set_header(request, name, line + length + 2);
}

static void set_body(id request, const struct upload_request *sent)
{
    id data = ((id(*)(id, SEL, const void *, unsigned long))objc_msgSend)(
        mire__class("NSData"), sel_registerName("dataWithBytes:length:"), sent->body, sent->size);

    mire__call_with(request, "setHTTPBody:", data);
}

static void describe_body(id request, const struct upload_request *sent)
{
    mire__call_with(request, "setHTTPMethod:", mire__text("POST"));
    set_header_line(request, sent->type);
    set_header_line(request, mire__unpack_header);
    if (sent->size > MIRE_METERED_BYTES)
        ((void (*)(id, SEL, BOOL))objc_msgSend)(request, sel_registerName("setAllowsConstrainedNetworkAccess:"), NO);
}

/* NULL: no memory, or no such URL. */
static id make_request(const struct session_client *client, const struct upload_request *sent)
{
    char clock[MIRE_CLOCK_LINE_BYTES];
    size_t length = strlen(client->url) + strlen(sent->path) + 1;
    char *target = mire__malloc(length);
    id url, request;

    if (!target)
        return NULL;
    snprintf(target, length, "%s%s", client->url, sent->path);
    url = mire__call_with(mire__class("NSURL"), "URLWithString:", mire__text(target));
    mire__free(target);
    request = url ? mire__call_with(mire__class("NSMutableURLRequest"), "requestWithURL:", url) : NULL;
    if (!request)
        return NULL;
    ((void (*)(id, SEL, double))objc_msgSend)(request, sel_registerName("setTimeoutInterval:"), TRANSFER_S);
    set_header(request, "Authorization", client->authorization);
    set_header(request, "User-Agent", "libmire/" MIRE_VERSION);
    mire__upload_clock(clock, sizeof(clock), mire__wall_now_ms());
    set_header(request, MIRE_CLOCK_HEADER, strchr(clock, ' ') + 1);
    if (sent->body)
        describe_body(request, sent);
    else if (sent->etag && sent->etag[0])
        set_header(request, "If-None-Match", sent->etag);
    return request;
}

/* ---- its answer ---- */

static void take_header(char *out, size_t cap, id response, const char *name)
{
    const char *value = utf8_of(mire__call_with(response, "valueForHTTPHeaderField:", mire__text(name)));

    mire__text_copy(out, cap, value ? value : "");
}

static void take_answer(struct upload_answer *answer, id data, id response, id error)
{
    const char *problem = error ? utf8_of(mire__call(error, "localizedDescription")) : NULL;

    if (!response || error) {
        mire__text_copy(answer->problem, sizeof(answer->problem), problem ? problem : "there was no answer");
        return;
    }
    answer->status = (int)((long (*)(id, SEL))objc_msgSend)(response, sel_registerName("statusCode"));
    take_header(answer->retry_after, sizeof(answer->retry_after), response, "Retry-After");
    take_header(answer->date, sizeof(answer->date), response, "Date");
    take_header(answer->etag, sizeof(answer->etag), response, "ETag");
    answer->size = length_of(data);
    if (answer->text && answer->size > 0)
        ((void (*)(id, SEL, void *, unsigned long))objc_msgSend)(
            data, sel_registerName("getBytes:length:"), answer->text,
            answer->size < answer->cap ? answer->size : answer->cap);
}

/*
 * Wait for the answer, and cancel the task when the library has to end. A background task is left to the system then. It would
 * wait for a network without a limit, and is cancelled after the time of an ordinary one.
 */
static void await(const struct awaited_answer *waiting, id task, bool background, const atomic_bool *cancel)
{
    const uint64_t end_ns = mire__now_ns() + (uint64_t)(TRANSFER_S * MIRE_NS_PER_S);
    bool cancelled = false;

    while (dispatch_semaphore_wait(waiting->done, dispatch_time(DISPATCH_TIME_NOW, CANCEL_NS)) != 0) {
        bool ends = atomic_load_explicit(cancel, memory_order_relaxed);

        if (background && ends)
            return;
        if (cancelled || !(ends || (background && mire__now_ns() > end_ns)))
            continue;
        mire__call(task, "cancel"); /* its handler is called all the same */
        cancelled = true;
    }
}

static void take_background(void *context, void *data, void *response, void *error)
{
    struct awaited_answer *filled = context;

    take_answer(filled->answer, data, response, error);
    dispatch_semaphore_signal(filled->done);
}

static id begin_task(const struct session_client *client, id request, const struct upload_request *sent,
                     struct awaited_answer *filled)
{
    id task;

    if (client->background && sent->body)
        return mire__background_begin(request, sent->body, sent->size, take_background, filled);
    if (sent->body)
        set_body(request, sent);
    task = ((id(*)(id, SEL, id, void (^)(id, id, id)))objc_msgSend)(
        client->session, sel_registerName("dataTaskWithRequest:completionHandler:"), request,
        ^(id data, id response, id error) {
          take_answer(filled->answer, data, response, error);
          dispatch_semaphore_signal(filled->done);
        });
    if (task)
        mire__call(task, "resume");
    return task;
}

static void send_with_session(void *context, struct upload_answer *answer, const struct upload_request *sent,
                              const atomic_bool *cancel)
{
    struct session_client *client = context;
    bool background = client->background && sent->body;
    void *pool = objc_autoreleasePoolPush();
    struct awaited_answer waiting = {answer, dispatch_semaphore_create(0)};
    id request = waiting.done ? make_request(client, sent) : NULL;
    id task = request ? begin_task(client, request, sent, &waiting) : NULL;

    if (task)
        await(&waiting, task, background, cancel);
    else
        mire__text_copy(answer->problem, sizeof(answer->problem),
                        "no request could be made: check the server's URL, and the room for temporary files");
    if (background)
        mire__background_leave(); /* nothing is written to `waiting` from here on */
    if (waiting.done)
        dispatch_release(waiting.done);
    objc_autoreleasePoolPop(pool);
}

/* ---- the session ---- */

static void open_sessions(struct session_client *client, bool background)
{
    void *pool = objc_autoreleasePoolPush();
    id configuration = mire__call(mire__class("NSURLSessionConfiguration"), "ephemeralSessionConfiguration");

    if (configuration)
        client->session = mire__session_open(configuration);
    client->background = background && mire__background_open();
    objc_autoreleasePoolPop(pool);
}

/* Certificates and keys of the app's own need its own transport: nothing is sent without the check that was asked for. */
static bool has_trust_of_its_own(const struct upload_options *options)
{
    return (options->ca_file && options->ca_file[0]) || (options->pins && options->pins[0]);
}

enum mire_err mire__curl_init(struct transport *transport_out, const struct upload_options *options)
{
    struct session_client *client = has_trust_of_its_own(options) ? NULL : mire__calloc(1, sizeof(*client));
    size_t length = strlen(options->key) + sizeof("Bearer ");

    if (!client)
        return has_trust_of_its_own(options) ? MIRE_E_SYSTEM : MIRE_E_MEMORY;
    client->url = mire__strdup(options->url);
    client->authorization = mire__malloc(length);
    open_sessions(client, options->background);
    *transport_out = (struct transport){.send = send_with_session, .context = client};
    if (!client->url || !client->authorization || !client->session) {
        enum mire_err err = client->session ? MIRE_E_MEMORY : MIRE_E_SYSTEM;

        mire__curl_fini(transport_out);
        return err;
    }
    snprintf(client->authorization, length, "Bearer %s", options->key);
    for (size_t end = strlen(client->url); end > 0 && client->url[end - 1] == '/';)
        client->url[--end] = '\0';
    return MIRE_OK;
}

void mire__curl_fini(struct transport *transport)
{
    struct session_client *client = transport->context;

    if (client->session) {
        mire__call(client->session, "invalidateAndCancel");
        mire__call(client->session, "release");
    }
    mire__free(client->url);
    mire__free(client->authorization);
    mire__free(client);
    *transport = (struct transport){0};
}
