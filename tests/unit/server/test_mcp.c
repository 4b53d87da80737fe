/* The Model Context Protocol: which messages are answered, how, and what the server is asked for them. */
#include "base/scope.h"
#include "base/text.h"
#include "json/json.h"
#include "mcp/mcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INITIALIZE(revision) \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" revision "\"}}"
#define CALL(name, arguments)                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
    "\",\"arguments\":" arguments "}}"

/* A server that answers one thing, and keeps the question. */
struct double_server {
    long status;
    const char *answer;
    char asked[512], sent[512];
};

static long answer_as_told(void *context, struct text *out, const char *method, const char *path,
                           const struct text *body)
{
    struct double_server *server = context;

    snprintf(server->asked, sizeof server->asked, "%s %s", method, path);
    snprintf(server->sent, sizeof server->sent, "%s", body ? body->bytes : "");
    text_add(out, server->answer);
    return server->status;
}

static struct mcp begun(struct double_server *server, const char *app)
{
    struct mcp mcp = {.ask = answer_as_told, .context = server, .app = app};
    struct text out = {0};

    mcp_handle(&mcp, &out, INITIALIZE("2025-06-18"), strlen(INITIALIZE("2025-06-18")));
    assert_non_null(strstr(out.bytes, "\"protocolVersion\":\"2025-06-18\""));
    text_fini(&out);
    return mcp;
}

/* The answer must hold each part, and be JSON on one line; NULL as the first: there must be no answer. */
static void expect(struct mcp *mcp, const char *message, const char *const *parts)
{
    MIRE_SCOPED(text_fini) struct text out = {0};
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct json json;

    mcp_handle(mcp, &out, message, strlen(message));
    if (!*parts) {
        assert_int_equal(out.len, 0);
        return;
    }
    assert_false(text_failed(&out));
    assert_null(strchr(out.bytes, '\n'));
    json_init(&json);
    assert_int_equal(json_read(&json, &fault, out.bytes, out.len, &limits), MIRE_JSON_OK);
    json_fini(&json);
    for (; *parts; parts++)
        if (!strstr(out.bytes, *parts))
            fail_msg("%s\nis the answer to\n%s\nand lacks\n%s", out.bytes, message, *parts);
}

#define EXPECT(mcp, message, ...) expect(mcp, message, (const char *const[]){__VA_ARGS__, NULL})
#define SILENCE(mcp, message)     expect(mcp, message, (const char *const[]){NULL})

static void a_message_that_breaks_the_standard_gets_its_error(void **state)
{
    struct double_server server = {.status = 200, .answer = "{}"};
    struct mcp mcp = begun(&server, NULL);

    (void)state;
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,", "-32700", "\"id\":null");
    EXPECT(&mcp, "\xff\xfe", "-32700", "\"id\":null");
    EXPECT(&mcp, "7", "-32600", "\"id\":null");
    EXPECT(&mcp, "[]", "-32600", "\"id\":null");
    EXPECT(&mcp, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "-32600", "no batches");
    EXPECT(&mcp, "{\"id\":1,\"method\":\"ping\"}", "-32600", "\"id\":1");
    EXPECT(&mcp, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600");
    EXPECT(&mcp, "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", "-32600");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600", "\"id\":null");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "-32600", "\"id\":null");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "-32600", "\"id\":null");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600", "needs a method");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":4}", "-32600", "needs a method");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}", "-32602");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}", "-32601");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000\\\"b\",\"method\":\"ping\"}", "\"result\":{}",
           "\"id\":\"a\\u0000\\\"b\"");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,\"method\":\"ping\"}", "\"id\":-9007199254740993");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"ping\"}", "-32600");
}

static void notifications_and_answers_get_no_answer(void **state)
{
    struct double_server server = {.status = 200, .answer = "{}"};
    struct mcp mcp = begun(&server, NULL);

    (void)state;
    SILENCE(&mcp, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    SILENCE(&mcp, "{\"jsonrpc\":\"2.0\",\"method\":\"nobody/knows\",\"params\":[]}");
    SILENCE(&mcp, "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"list_apps\"}}");
    SILENCE(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    assert_string_equal(server.asked, "");
}

static void a_session_begins_once_and_with_a_revision_of_both(void **state)
{
    struct double_server server = {0};
    struct mcp mcp = {.ask = answer_as_told, .context = &server};

    (void)state;
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "-32600", "initialize first");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "\"result\":{}");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", "-32602");
    EXPECT(&mcp, INITIALIZE("1999-01-01"), "\"protocolVersion\":\"2025-11-25\"");
    EXPECT(&mcp, INITIALIZE("2025-06-18"), "-32600");
    mcp = (struct mcp){.ask = answer_as_told, .context = &server};
    EXPECT(&mcp, INITIALIZE("2025-03-26"), "\"protocolVersion\":\"2025-03-26\"");
    EXPECT(&mcp, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},5]", "[{",
           "\"id\":1", "-32600");
    EXPECT(&mcp, "[]", "-32600", "empty");
    SILENCE(&mcp, "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]");
}

static void arguments_are_checked_before_anything_is_asked(void **state)
{
    struct double_server server = {.status = 200, .answer = "{\"groups\":[]}"};
    struct mcp mcp = begun(&server, NULL);

    (void)state;
    EXPECT(&mcp, CALL("nosuch", "{}"), "\"error\"", "-32602");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{}}", "-32602");
    EXPECT(&mcp, CALL("list_issues", "[]"), "-32602");
    EXPECT(&mcp, CALL("list_issues", "{}"), "Which app?", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\",\"limit\":0}"), "from 1 to 200", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\",\"limit\":\"5\"}"), "from 1 to 200", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\",\"limit\":2.5}"), "from 1 to 200", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\",\"colour\":\"red\"}"), "no such argument", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\",\"sort\":\"best\"}"), "schema", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":7}"), "must be a text", "\"isError\":true");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\\u0000b\"}"), "\"isError\":true");
    EXPECT(&mcp, CALL("show_issue", "{}"), "issue is missing", "\"isError\":true");
    EXPECT(&mcp, CALL("show_issue", "{\"issue\":\"\"}"), "issue is missing", "\"isError\":true");
    assert_string_equal(server.asked, "");
    EXPECT(&mcp, CALL("list_issues", "{\"app\":\"a\",\"limit\":5,\"state\":null}"), "\"isError\":false");
    assert_string_equal(server.asked, "GET /api/v1/apps/a/issues?limit=5");
    EXPECT(&mcp, CALL("search", "{\"app\":\"../b\",\"text\":\"x&y=\xc3\xa9/\"}"), "\"isError\":false");
    assert_string_equal(server.asked, "GET /api/v1/apps/..%2Fb/issues?q=x%26y%3D%C3%A9%2F");
}

static void nothing_changes_unless_it_was_allowed(void **state)
{
    struct double_server server = {.status = 200, .answer = "{}"};
    struct mcp mcp = begun(&server, "shop");
    MIRE_SCOPED(text_fini) struct text out = {0};
    const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

    (void)state;
    mcp_handle(&mcp, &out, list, strlen(list));
    assert_null(strstr(out.bytes, "set_issue"));
    assert_null(strstr(out.bytes, "\"readOnlyHint\":false"));
    EXPECT(&mcp, CALL("set_issue", "{\"issue\":\"I-1\",\"state\":\"resolved\"}"), "-32602", "--write");
    EXPECT(&mcp, CALL("comment_issue", "{\"issue\":\"I-1\",\"text\":\"x\"}"), "-32602", "--write");
    assert_string_equal(server.asked, "");
    mcp.may_write = true;
    EXPECT(&mcp, list, "set_issue", "comment_issue");
    EXPECT(&mcp, CALL("set_issue", "{\"issue\":\"I-1\"}"), "either state or assignee", "\"isError\":true");
    EXPECT(&mcp, CALL("set_issue", "{\"issue\":\"I-1\",\"state\":\"resolved\",\"fixed_in\":\"1.\\\"2\"}"),
           "\"isError\":false");
    assert_string_equal(server.asked, "POST /api/v1/apps/shop/triage");
    assert_string_equal(server.sent, "{\"issues\":[\"I-1\"],\"state\":\"resolved\",\"in\":\"1.\\\"2\"}");
    EXPECT(&mcp, CALL("comment_issue", "{\"issue\":\"I-1\",\"text\":\"a\\nb\"}"), "\"isError\":false");
    assert_string_equal(server.asked, "POST /api/v1/apps/shop/issues/I-1/comments");
    assert_string_equal(server.sent, "{\"text\":\"a\\nb\"}");
}

static void the_servers_refusal_is_the_tools(void **state)
{
    struct double_server server = {.status = 404,
                                   .answer = "{\"title\":\"Not found\",\"detail\":\"There is no issue I-9.\"}"};
    struct mcp mcp = begun(&server, "shop");

    (void)state;
    EXPECT(&mcp, CALL("show_issue", "{\"issue\":\"I-9\"}"), "404", "There is no issue I-9.", "\"isError\":true");
    EXPECT(&mcp,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"mire://issues/I-9\"}}",
           "-32002", "There is no issue I-9.");
    EXPECT(&mcp,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///etc/passwd\"}}",
           "-32602");
    server = (struct double_server){.status = 502, .answer = "<html>"};
    EXPECT(&mcp, CALL("list_apps", "{}"), "502", "\"isError\":true");
    server = (struct double_server){.status = 0, .answer = "cannot be reached"};
    EXPECT(&mcp, CALL("list_apps", "{}"), "cannot be reached", "\"isError\":true");
    EXPECT(&mcp, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", "-32603", "cannot be reached");
    server = (struct double_server){.status = 200, .answer = "[1]"};
    EXPECT(&mcp, CALL("list_apps", "{}"), "none that this mire knows", "\"isError\":true");
}

static void a_tree_is_told_by_its_branches(void **state)
{
    struct double_server server = {
        .status = 200,
        .answer = "{\"unit\":\"ms\",\"reports\":2,\"reports_total\":3,\"names\":[\"all\",\"main\",\"Load\",\"draw\","
                  "\"rare\"],"
                  "\"images\":[\"\",\"app\"],\"name\":[0,1,2,3,4,3],\"image\":[0,1,1,1,1,1],\"parent\":[-1,0,1,1,1,2],"
                  "\"value\":[1000,1000,600,390,10,600]}"};
    struct mcp mcp = begun(&server, "shop");

    (void)state;
    EXPECT(&mcp, CALL("show_stacks", "{\"issue\":\"I-1\"}"),
           "100.0% main [app]\\n  60.0% Load [app]\\n  60.0% draw [app]\\n  39.0% draw [app]\\n\"");
    assert_string_equal(server.asked, "GET /api/v1/apps/shop/issues/I-1/flame");
    EXPECT(&mcp, CALL("show_stacks", "{\"issue\":\"I-1\",\"least_percent\":1}"), "  1.0% rare [app]\\n\"");
    EXPECT(&mcp, CALL("search", "{\"issue\":\"I-1\",\"text\":\"DRAW\"}"),
           "- 39.0% draw [app] < main\\n- 60.0% draw [app] < Load < main\\n\"");
    server.answer = "{\"unit\":\"ms\",\"names\":[\"a\"],\"images\":[\"\"],\"name\":[0,0],\"image\":[0,0],\"parent\":[-"
                    "1,5],\"value\":[1,1]}";
    EXPECT(&mcp, CALL("show_stacks", "{\"issue\":\"I-1\"}"), "no call tree", "\"isError\":true");
    server.answer = "{\"name\":7}";
    EXPECT(&mcp, CALL("show_stacks", "{\"issue\":\"I-1\"}"), "no call tree", "\"isError\":true");
}

static void a_name_of_a_device_begins_no_line(void **state)
{
    struct double_server server = {.status = 200,
                                   .answer = "{\"total\":1,\"issues_total\":1,\"sort\":\"-impact\",\"groups\":[{"
                                             "\"issues\":[{\"id\":\"I-1\",\"caller1\":\"a\\n- I-2 b\","
                                             "\"totals\":{\"events\":4,\"devices\":2,\"longest_ms\":1500}}]}]}"};
    struct mcp mcp = begun(&server, "shop");

    (void)state;
    EXPECT(&mcp, CALL("list_issues", "{}"), "- I-1 a - I-2 b", "4 events, 2 devices, longest 1.5 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_that_breaks_the_standard_gets_its_error),
        cmocka_unit_test(notifications_and_answers_get_no_answer),
        cmocka_unit_test(a_session_begins_once_and_with_a_revision_of_both),
        cmocka_unit_test(arguments_are_checked_before_anything_is_asked),
        cmocka_unit_test(nothing_changes_unless_it_was_allowed),
        cmocka_unit_test(the_servers_refusal_is_the_tools),
        cmocka_unit_test(a_tree_is_told_by_its_branches),
        cmocka_unit_test(a_name_of_a_device_begins_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
