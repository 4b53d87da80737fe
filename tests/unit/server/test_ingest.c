/*
 * test_ingest.c - the ingest door on a store in memory: its responses, and the limit of the queue.
 */
#include "base/clock.h"
#include "base/fault.h"
#include "ingest/ingest.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A store that can be blocked, and fails on request. */
struct store {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool shut; /* batches wait */
    int fault; /* result of a batch with more than `fault_over` rows */
    size_t fault_over;
    int fault_times; /* so often; -1: always */
    int batches;
    int rows;
    struct inbox_row last;
};

static int check(void *context, struct ingest_verdict *out, struct problem *problem, const void *body, size_t len,
                 const char *encoding)
{
    (void)context;
    (void)encoding;
    uuid_make(&out->report_id, 1700000000000000);
    out->format = "mire";
    problem_set(problem, "report.schema", "no");
    return len && *(const char *)body == '{' ? MIRE_CHECK_GOOD : MIRE_CHECK_INVALID;
}

/* A body of the foreign format holds a report for each "r", is refused for "x", and is the sender's "own". */
static int convert(void *context, struct ingest_converted *out, struct problem *problem, struct arena *arena,
                   const struct ingest_foreign *foreign)
{
    (void)context;
    out->rows = arena_array(arena, foreign->len + 1, sizeof *out->rows);
    out->own = "0123456789abcdef0123456789abcdef";
    problem_set(problem, "report.malformed", "no");
    for (size_t i = 0; i < foreign->len; i++) {
        if (((const char *)foreign->body)[i] == 'x')
            return MIRE_CHECK_MALFORMED;
        out->rows[out->count] = (struct inbox_row){.format = "mire", .encoding = "zstd", .body = "r", .body_len = 1};
        uuid_make(&out->rows[out->count++].report_id, 1700000000000000);
    }
    return MIRE_CHECK_GOOD;
}

static const char *foreign_format(const char *media_type, size_t len)
{
    return len == 11 && !memcmp(media_type, "test/foreig", len) ? "foreign" : NULL;
}

static int store_batch(void *context, const struct inbox_row *rows, size_t count, int64_t *stored_out)
{
    struct store *store = context;
    int rc = 0;
    pthread_mutex_lock(&store->mutex);
    while (store->shut)
        pthread_cond_wait(&store->changed, &store->mutex);
    store->batches++;
    if (store->fault && count > store->fault_over && store->fault_times) {
        store->fault_times--;
        rc = store->fault;
    } else {
        store->rows += (int)count;
        store->last = rows[count - 1];
        for (size_t i = 0; i < count; i++)
            stored_out[i] = 1;
    }
    pthread_mutex_unlock(&store->mutex);
    return rc;
}

/* One request, and whether it was answered. */
struct sent {
    struct request request; /* first */
    struct reply reply;
    struct arena arena;
    struct http_pair headers[2];
    struct store *store;
    bool answered;
};

static void finish(struct request *request)
{
    struct sent *sent = (struct sent *)request;
    pthread_mutex_lock(&sent->store->mutex);
    sent->answered = true;
    pthread_cond_broadcast(&sent->store->changed);
    pthread_mutex_unlock(&sent->store->mutex);
}

struct fixture {
    struct store store;
    struct ingest *ingest;
    const char *clock; /* that the next request tells; NULL: none */
    struct sent sent[8];
};

static void start(struct fixture *fixture)
{
    struct ingest_options options = MIRE_INGEST_OPTIONS_INIT;
    options.needs = (struct ingest_needs){.check = check,
                                          .foreign_format = foreign_format,
                                          .convert = convert,
                                          .store_context = &fixture->store,
                                          .store_batch = store_batch};
    options.writers = 1;
    options.queue_rows_max = 4;
    options.queue_bytes_max = 1000;
    assert_int_equal(ingest_start(&fixture->ingest, &options), 0);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    pthread_mutex_init(&fixture->store.mutex, NULL);
    pthread_cond_init(&fixture->store.changed, NULL);
    start(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    ingest_stop(fixture->ingest);
    for (size_t i = 0; i < 8; i++) {
        arena_fini(&fixture->sent[i].arena);
        text_fini(&fixture->sent[i].reply.text);
    }
    free(fixture);
    return 0;
}

static int post_to(struct fixture *fixture, int n, size_t route, const char *type, const void *body, size_t len)
{
    struct sent *sent = &fixture->sent[n];
    arena_fini(&sent->arena);
    text_fini(&sent->reply.text);
    memset(sent, 0, sizeof *sent);
    arena_init(&sent->arena, 1 << 20);
    sent->store = &fixture->store;
    sent->headers[0] = (struct http_pair){"Content-Type", type};
    sent->headers[1] = (struct http_pair){"mire-clock", fixture->clock};
    sent->request = (struct request){.headers = sent->headers,
                                     .header_count = fixture->clock ? 2 : 1,
                                     .grant = {.app_id = 7},
                                     .body = body,
                                     .body_len = len,
                                     .may_block = true,
                                     .arena = &sent->arena,
                                     .reply = &sent->reply,
                                     .finish = finish};
    return ingest_routes[route].handler(fixture->ingest, &sent->request, &sent->reply);
}

static int post(struct fixture *fixture, int n, const void *body, size_t len)
{
    return post_to(fixture, n, 0, "application/x-www-form-urlencoded", body, len); /* curl's default */
}

static void await(struct fixture *fixture, int n)
{
    pthread_mutex_lock(&fixture->store.mutex);
    while (!fixture->sent[n].answered)
        pthread_cond_wait(&fixture->store.changed, &fixture->store.mutex);
    pthread_mutex_unlock(&fixture->store.mutex);
}

static void shut(struct store *store, bool is_shut)
{
    pthread_mutex_lock(&store->mutex);
    store->shut = is_shut;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->mutex);
}

static void a_stored_report_is_answered_202(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post(f, 0, "{}", 2), MIRE_HTTP_LATER);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 202);
    assert_non_null(strstr(f->sent[0].reply.text.bytes, "\"report_id\":\""));
    assert_int_equal(f->store.rows, 1);
}

static void nothing_is_answered_before_it_is_stored(void **state)
{
    struct fixture *f = *state;
    shut(&f->store, true);
    assert_int_equal(post(f, 0, "{}", 2), MIRE_HTTP_LATER);
    pthread_mutex_lock(&f->store.mutex);
    assert_false(f->sent[0].answered);
    pthread_mutex_unlock(&f->store.mutex);
    shut(&f->store, false);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 202);
}

static void the_clocks_difference_is_stored_with_the_report(void **state)
{
    struct fixture *f = *state;
    static const char *const nothing[] = {NULL, "", "-5", "12x", " 1", "1.5", "1234567890123456"};
    char clock[32];
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        f->clock = nothing[i];
        assert_int_equal(post(f, 0, "{}", 2), MIRE_HTTP_LATER);
        await(f, 0);
        assert_false(f->store.last.clock_known);
    }
    snprintf(clock, sizeof clock, "%lld", (long long)(clock_wall_us() / 1000 - 7200000));
    f->clock = clock;
    assert_int_equal(post(f, 0, "{}", 2), MIRE_HTTP_LATER);
    await(f, 0);
    assert_true(f->store.last.clock_known);
    assert_in_range(f->store.last.clock_behind_ms, 7200000, 7200000 + 600000); /* on a busy machine */
}

static void a_bad_body_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post(f, 0, "x", 1), MIRE_HTTP_DONE);
    assert_int_equal(f->sent[0].reply.status, 422);
}

static void a_full_queue_is_503(void **state)
{
    struct fixture *f = *state;
    char large[600] = "{";
    shut(&f->store, true);
    assert_int_equal(post(f, 0, large, sizeof large), MIRE_HTTP_LATER);
    assert_int_equal(post(f, 1, large, sizeof large), MIRE_HTTP_DONE); /* bytes */
    assert_int_equal(f->sent[1].reply.status, 503);
    assert_string_equal(f->sent[1].reply.headers[0].name, "Retry-After");
    for (int i = 1; i < 4; i++)
        assert_int_equal(post(f, i, "{}", 2), MIRE_HTTP_LATER);
    assert_int_equal(post(f, 4, "{}", 2), MIRE_HTTP_DONE); /* rows */
    assert_int_equal(f->sent[4].reply.status, 503);
    shut(&f->store, false);
    for (int i = 0; i < 4; i++) {
        await(f, i);
        assert_int_equal(f->sent[i].reply.status, 202);
    }
    assert_int_equal(post(f, 5, large, sizeof large), MIRE_HTTP_LATER);
    await(f, 5);
}

static void an_unsure_commit_is_done_again(void **state)
{
    struct fixture *f = *state;
    f->store.fault = MIRE_FAULT_AWAY;
    f->store.fault_times = 1;
    assert_int_equal(post(f, 0, "{}", 2), MIRE_HTTP_LATER);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 202);
    assert_int_equal(f->store.batches, 2);
}

static void a_store_that_is_away_is_503(void **state)
{
    struct fixture *f = *state;
    f->store.fault = MIRE_FAULT_AWAY;
    f->store.fault_times = -1;
    assert_int_equal(post(f, 0, "{}", 2), MIRE_HTTP_LATER);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 503);
    assert_int_equal(f->store.rows, 0);
}

static void one_bad_row_does_not_take_the_others_with_it(void **state)
{
    struct fixture *f = *state;
    f->store.fault = MIRE_FAULT_SQL;
    f->store.fault_over = 1;
    f->store.fault_times = -1;
    shut(&f->store, true);
    for (int i = 0; i < 4; i++)
        assert_int_equal(post(f, i, "{}", 2), MIRE_HTTP_LATER);
    shut(&f->store, false);
    for (int i = 0; i < 4; i++) {
        await(f, i);
        assert_int_equal(f->sent[i].reply.status, 202);
    }
    assert_int_equal(f->store.rows, 4);
}

static size_t count(const char *text, const char *part)
{
    size_t times = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        times++;
    return times;
}

static void a_foreign_body_is_answered_when_all_its_reports_are_stored(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post_to(f, 0, 0, "test/foreig; charset=utf-8", "rrr", 3), MIRE_HTTP_LATER);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 202);
    assert_int_equal(count(f->sent[0].reply.text.bytes, "-"), 12);
    assert_int_equal(f->store.rows, 3);
    assert_int_equal(post_to(f, 1, 0, "test/foreig", "rx", 2), MIRE_HTTP_DONE);
    assert_int_equal(f->sent[1].reply.status, 400);
    assert_int_equal(post_to(f, 2, 0, "test/foreig", "", 0), MIRE_HTTP_DONE);
    assert_int_equal(f->sent[2].reply.status, 422);
    assert_int_equal(f->store.rows, 3);
}

static void one_row_that_cannot_be_stored_fails_the_whole_body(void **state)
{
    struct fixture *f = *state;
    f->store.fault = MIRE_FAULT_AWAY;
    f->store.fault_times = -1;
    assert_int_equal(post_to(f, 0, 0, "test/foreig", "rrr", 3), MIRE_HTTP_LATER);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 503);
}

static void a_network_thread_does_not_convert(void **state)
{
    struct fixture *f = *state;
    (void)post_to(f, 0, 0, "test/foreig", "x", 1);
    f->sent[0].request.may_block = false;
    assert_int_equal(ingest_routes[0].handler(f->ingest, &f->sent[0].request, &f->sent[0].reply), MIRE_HTTP_BLOCKS);
}

static const char *header_of(const struct reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (!strcmp(reply->headers[i].name, name))
            return reply->headers[i].value;
    return "";
}

static void a_sentry_sdk_is_answered_as_by_sentry(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(post_to(f, 0, 1, "application/x-sentry-envelope", "r", 1), MIRE_HTTP_LATER);
    await(f, 0);
    assert_int_equal(f->sent[0].reply.status, 200);
    assert_string_equal(f->sent[0].reply.text.bytes, "{\"id\":\"0123456789abcdef0123456789abcdef\"}");
    assert_non_null(strstr(header_of(&f->sent[0].reply, "X-Sentry-Rate-Limits"), "transaction"));
    assert_int_equal(post_to(f, 1, 1, "application/x-sentry-envelope", "", 0), MIRE_HTTP_DONE);
    assert_int_equal(f->sent[1].reply.status, 200);
    assert_string_equal(f->sent[1].reply.text.bytes, "{}");
    assert_int_equal(post_to(f, 2, 1, "application/x-sentry-envelope", "rrrrr", 5),
                     MIRE_HTTP_DONE); /* more than fits */
    assert_int_equal(f->sent[2].reply.status, 429);
    assert_string_equal(header_of(&f->sent[2].reply, "Retry-After"), "5");
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(a_stored_report_is_answered_202),
        WITH_FIXTURE(nothing_is_answered_before_it_is_stored),
        WITH_FIXTURE(the_clocks_difference_is_stored_with_the_report),
        WITH_FIXTURE(a_bad_body_is_refused),
        WITH_FIXTURE(a_full_queue_is_503),
        WITH_FIXTURE(an_unsure_commit_is_done_again),
        WITH_FIXTURE(a_store_that_is_away_is_503),
        WITH_FIXTURE(one_bad_row_does_not_take_the_others_with_it),
        WITH_FIXTURE(a_foreign_body_is_answered_when_all_its_reports_are_stored),
        WITH_FIXTURE(one_row_that_cannot_be_stored_fails_the_whole_body),
        WITH_FIXTURE(a_network_thread_does_not_convert),
        WITH_FIXTURE(a_sentry_sdk_is_answered_as_by_sentry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
