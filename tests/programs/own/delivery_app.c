/*
 * delivery_app.c - an app that links libmire and takes commands: settings as arguments, then one command a line.
 *
 *     delivery_app app=NAME url=URL key=KEY store=DIR [first=MS] [limit=MS] [daily=BYTES] [consent=1] [ca=FILE]
 *                  [pins=PINS] [filter=WORD] [transport=STATUS] [heap=1]
 *
 *     report N      make N reports; returns when their stacks are taken
 *     flush MS      print the result of mire_flush
 *     consent N, network N
 *     clock MS      set the app's clock ahead of the system's, from now on
 *     stop          end; prints SENT KEPT DROPPED, and with heap=1 the number of blocks not freed
 *
 * Each command prints one line. The log goes to standard error.
 */
#include <mire/delivery.h>

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Atomic long long ahead_ms;
static _Atomic long blocks, blocks_made, seen;

static void print_log(void *context, enum mire_log_level level, const char *text)
{
    (void)context;
    fprintf(stderr, "%d %s\n", (int)level, text);
}

static uint64_t clock_ms(void *context)
{
    struct timespec now;

    (void)context;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)((long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 + atomic_load(&ahead_ms));
}

/* A filter that drops reports with the word. */
static int filter(void *word, const char *json, size_t size)
{
    atomic_fetch_add(&seen, 1);
    return memmem(json, size, word, strlen(word)) != NULL;
}

/* A transport that answers every POST itself; with status 202 like the server. */
static void answer(void *status, const mire_request *request, mire_response *response)
{
    response->status = atoi(status);
    if (strcmp(request->method, "GET") == 0 || request->is_cancelled(request))
        response->status = 404;
    fprintf(stderr, "%s %s %zu\n", request->method, request->url, request->body_size);
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    atomic_fetch_add(&blocks, 1);
    atomic_fetch_add(&blocks_made, 1);
    return malloc(size);
}

static void *reallocate(void *context, void *block, size_t size)
{
    (void)context;
    return realloc(block, size);
}

static void release(void *context, void *block)
{
    (void)context;
    atomic_fetch_sub(&blocks, 1);
    free(block);
}

static const char *setting(char **argv, const char *name)
{
    size_t length = strlen(name);

    for (; *argv; argv++)
        if (strncmp(*argv, name, length) == 0 && (*argv)[length] == '=')
            return *argv + length + 1;
    return NULL;
}

static long number(char **argv, const char *name, long otherwise)
{
    const char *text = setting(argv, name);

    return text ? atol(text) : otherwise;
}

static void set_hooks(mire_options *options, char **argv)
{
    static const mire_allocator heap = {allocate, reallocate, release, NULL};

    mire_options_set_clock(options, clock_ms, NULL);
    if (setting(argv, "ca"))
        mire_options_set_ca_file(options, setting(argv, "ca"));
    if (setting(argv, "pins"))
        mire_options_set_pins(options, setting(argv, "pins"));
    if (setting(argv, "filter"))
        mire_options_set_before_send(options, filter, (void *)(uintptr_t)setting(argv, "filter"));
    if (setting(argv, "transport"))
        mire_options_set_transport(options, answer, (void *)(uintptr_t)setting(argv, "transport"));
    if (setting(argv, "heap"))
        mire_options_set_allocator(options, &heap);
}

static enum mire_err start(char **argv)
{
    mire_options *options = mire_options_new();
    enum mire_err err;

    mire_options_set_app(options, setting(argv, "app"), "1.0");
    mire_options_set_channel(options, "internal");
    mire_options_set_server(options, setting(argv, "url"), setting(argv, "key"));
    mire_options_set_store(options, setting(argv, "store"));
    mire_options_set_threshold_ms(options, 60000); /* a wait for input is no hang */
    mire_options_set_log(options, print_log, NULL);
    mire_options_set_retry_ms(options, (uint32_t)number(argv, "first", 20), (uint32_t)number(argv, "limit", 200));
    mire_options_set_daily_bytes(options, (uint32_t)number(argv, "daily", 0));
    mire_options_set_consent_required(options, (int)number(argv, "consent", 0));
    set_hooks(options, argv);
    err = mire_start(options);
    mire_options_free(options);
    return err;
}

/* Retries until the library has time. */
static const char *report(long count)
{
    enum mire_err err = MIRE_OK;

    for (long i = 0; i < count && (err == MIRE_OK || err == MIRE_E_TIMEOUT); i += err == MIRE_OK) {
        err = mire_test();
        if (err == MIRE_OK)
            mire_flush(0);
        else
            poll(NULL, 0, 20);
    }
    return mire_err_name(err);
}

static void stop(char **argv)
{
    struct mire_counts counts;
    enum mire_err err = mire_stop(&counts);

    printf("%s %llu %llu %llu", mire_err_name(err), (unsigned long long)counts.sent, (unsigned long long)counts.kept,
           (unsigned long long)counts.dropped);
    if (setting(argv, "heap"))
        printf(" %ld %d", atomic_load(&blocks), atomic_load(&blocks_made) > 0);
    if (setting(argv, "filter"))
        printf(" %ld", atomic_load(&seen));
    printf("\n");
}

int main(int argc, char **argv)
{
    char word[32];
    long long value;

    if (argc < 5)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", mire_err_name(start(argv)));
    while (scanf("%31s", word) == 1 && strcmp(word, "stop") != 0 && scanf("%lld", &value) == 1) {
        const char *answered = "MIRE_OK";

        if (strcmp(word, "report") == 0)
            answered = report((long)value);
        else if (strcmp(word, "flush") == 0)
            answered = mire_err_name(mire_flush((uint32_t)value));
        else if (strcmp(word, "consent") == 0)
            answered = mire_err_name(mire_set_consent((enum mire_consent)value));
        else if (strcmp(word, "network") == 0)
            mire_set_network((enum mire_network)value);
        else if (strcmp(word, "clock") == 0)
            atomic_store(&ahead_ms, value);
        else
            answered = "?";
        printf("%s\n", answered);
    }
    stop(argv);
    return 0;
}
