/*
 * test_http.c - targets, routes, replies, without a socket.
 */
#include "base/fault.h"
#include "http/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct arena arena;
    struct request request;
    struct reply reply;
};

static int setup(void **state)
{
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    arena_init(&fixture.arena, 1 << 20);
    fixture.request.arena = &fixture.arena;
    strcpy(fixture.request.id, "id-1");
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_fini(&fixture->arena);
    text_fini(&fixture->reply.text);
    return 0;
}

static int answer(void *context, struct request *request, struct reply *reply)
{
    (void)request;
    reply->status = 200;
    return *(int *)context;
}

static const struct http_route routes[] = {
    {.method = MIRE_HTTP_GET, .pattern = "/api/v1/apps/{app}/issues/{issue}", .handler = answer},
    {.method = MIRE_HTTP_GET, .pattern = "/api/v1/apps", .handler = answer},
    {.method = MIRE_HTTP_POST, .pattern = "/api/v1/reports", .handler = answer},
    {.method = MIRE_HTTP_GET, .pattern = "/*", .handler = answer},
};
static int context;
static const struct http_table table = {routes, sizeof routes / sizeof *routes, &context};

static int find(struct request *request, enum http_method method, const char *target)
{
    char allowed[64];
    void *found;
    request->method = method;
    int status = request_parse_target(request, target);
    return status ? status : http_route_find(request, &found, allowed, &table, 1);
}

static void a_target_is_decoded(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(find(&f->request, MIRE_HTTP_GET, "/api/v1/apps/a%2Db/issues/I-1?q=a+b%26&t=&x"), 0);
    assert_string_equal(request_param(&f->request, 0), "a-b");
    assert_string_equal(request_param(&f->request, 1), "I-1");
    assert_string_equal(request_param(&f->request, 7), "");
    assert_string_equal(request_query(&f->request, "q"), "a b&");
    assert_string_equal(request_query(&f->request, "t"), "");
    assert_string_equal(request_query(&f->request, "x"), "");
    assert_null(request_query(&f->request, "y"));
}

static void a_bad_target_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"", "x", "*", "/%", "/%4", "/%zz", "/%00", "/a/../b", "/%2e%2e/x", "/.", "/?q=%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(request_parse_target(&f->request, bad[i]), 400);
    static char many[8 * (MIRE_HTTP_QUERY_MAX + 1)] = "/?";
    for (int i = 0; i <= MIRE_HTTP_QUERY_MAX; i++)
        strcat(many, "a&");
    assert_int_equal(request_parse_target(&f->request, many), 400);
    static char longest[MIRE_HTTP_URI_MAX + 2];
    memset(longest, '/', sizeof longest - 1);
    assert_int_equal(request_parse_target(&f->request, longest), 414);
}

static void the_catch_all_takes_the_rest(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(find(&f->request, MIRE_HTTP_GET, "/assets/a/b.js"), 0);
    assert_string_equal(request_param(&f->request, 0), "assets/a/b.js");
    assert_int_equal(find(&f->request, MIRE_HTTP_GET, "/"), 0);
    assert_string_equal(request_param(&f->request, 0), "");
}

static void a_wrong_method_is_told_what_is_allowed(void **state)
{
    struct fixture *f = *state;
    char allowed[64];
    void *found;
    assert_int_equal(request_parse_target(&f->request, "/api/v1/reports"), 0);
    f->request.method = MIRE_HTTP_GET;
    assert_int_equal(http_route_find(&f->request, &found, allowed, &table, 1), 405);
    assert_string_equal(allowed, "POST");
    f->request.method = MIRE_HTTP_DELETE;
    assert_int_equal(request_parse_target(&f->request, "/api/v1/apps"), 0);
    assert_int_equal(http_route_find(&f->request, &found, allowed, &table, 1), 405);
    assert_string_equal(allowed, "GET, HEAD");
}

static void headers_are_found_in_any_case(void **state)
{
    struct fixture *f = *state;
    const struct http_pair headers[] = {{"content-TYPE", "a/b"}, {"AUTHORIZATION", "bearer  tok"}};
    f->request.headers = headers;
    f->request.header_count = 2;
    assert_string_equal(request_header(&f->request, "Content-Type"), "a/b");
    assert_string_equal(request_bearer(&f->request), "tok");
    f->request.header_count = 1;
    assert_null(request_bearer(&f->request));
}

static void a_problem_is_rfc_9457(void **state)
{
    struct fixture *f = *state;
    struct problem problem = {.position = 17, .path = "/a/0", .has_path = 1};
    problem_set(&problem, "report.schema", "It is \"%s\".", "bad");
    reply_problem(&f->reply, &f->request, 422, &problem);
    assert_int_equal(f->reply.status, 422);
    assert_string_equal(f->reply.type, "application/problem+json");
    assert_string_equal(
        f->reply.text.bytes,
        "{\"type\":\"urn:mire:problem:report.schema\",\"title\":\"Unprocessable Content\",\"status\":422,"
        "\"detail\":\"It is \\\"bad\\\".\",\"position\":17,\"path\":\"/a/0\",\"request_id\":\"id-1\"}");
}

static void a_fault_becomes_500_and_away_503(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(find(&f->request, MIRE_HTTP_GET, "/api/v1/apps"), 0);
    context = MIRE_FAULT_SQL;
    assert_int_equal(http_call(&context, &f->request, &f->reply), MIRE_HTTP_DONE);
    assert_int_equal(f->reply.status, 500);
    context = MIRE_FAULT_AWAY;
    assert_int_equal(http_call(&context, &f->request, &f->reply), MIRE_HTTP_DONE);
    assert_int_equal(f->reply.status, 503);
    assert_string_equal(f->reply.headers[0].name, "Retry-After");
    context = MIRE_HTTP_LATER;
    assert_int_equal(http_call(&context, &f->request, &f->reply), MIRE_HTTP_LATER);
}

static void a_reply_has_room_for_so_many_headers(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < MIRE_HTTP_HEADERS_MAX; i++)
        assert_true(reply_header(&f->reply, "A", "b"));
    assert_false(reply_header(&f->reply, "A", "b"));
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(a_target_is_decoded),
        WITH_FIXTURE(a_bad_target_is_refused),
        WITH_FIXTURE(the_catch_all_takes_the_rest),
        WITH_FIXTURE(a_wrong_method_is_told_what_is_allowed),
        WITH_FIXTURE(headers_are_found_in_any_case),
        WITH_FIXTURE(a_problem_is_rfc_9457),
        WITH_FIXTURE(a_fault_becomes_500_and_away_503),
        WITH_FIXTURE(a_reply_has_room_for_so_many_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
