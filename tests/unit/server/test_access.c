/*
 * test_access.c - who may: keys, people and their roles, hosts, origins and rates, with keys in memory.
 */
#include "access/access.h"
#include "access/cookie.h"
#include "access/origin.h"
#include "base/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GOOD    "mk_goodgoodgoodgoodgoodgoodgoodgoodgoodgood"
#define ADMIN   "mk_adminadminadminadminadminadminadminadmin"
#define EXPIRED "mk_expiredexpiredexpiredexpiredexpiredexpir"
#define COOKIE  "mk_cookiecookiecookiecookiecookiecookiecook"
#define TOKEN   "mk_tokentokentokentokentokentokentokentoken"
#define BAD     "mk_badbadbadbadbadbadbadbadbadbadbadbadbadb"

struct fixture {
    struct access *access;
    struct arena arena;
    struct request request;
    struct reply reply;
    struct http_pair headers[8];
    struct http_route route;
    int loads, fault, used;
    bool has_people;
};

static bool add(struct access_keys *keys, const char *text, int64_t id, enum access_scope scope, int64_t expires_us)
{
    struct access_key key = {.key_id = id, .app_id = 7, .scope = scope, .expires_us = expires_us, .slug = "shop"};
    key_hash(key.hash, text, strlen(text));
    return access_keys_add(keys, &key);
}

/* Anna triages shop, views all; Lee is admin of the server. */
static bool add_people(struct access_keys *keys)
{
    struct access_key cookie = {.key_id = 11, .account_id = 21, .is_sign_in = true, .most = MIRE_ACCESS_SERVER};
    struct access_key token = {.key_id = 12, .account_id = 22, .most = MIRE_ACCESS_TRIAGER};
    key_hash(cookie.hash, COOKIE, strlen(COOKIE));
    key_hash(token.hash, TOKEN, strlen(TOKEN));
    return access_keys_add_account(keys, &(struct access_account){22, true, "lee"}) &&
           access_keys_add_account(keys, &(struct access_account){21, false, "anna"}) &&
           access_keys_add_member(keys, &(struct access_member){21, MIRE_ACCESS_TRIAGER, "shop"}) &&
           access_keys_add_member(keys, &(struct access_member){21, MIRE_ACCESS_VIEWER, ""}) &&
           access_keys_add(keys, &cookie) && access_keys_add(keys, &token);
}

static int load(void *context, struct access_keys *keys)
{
    struct fixture *f = context;
    f->loads++;
    if (f->has_people && !add_people(keys))
        return MIRE_FAULT_MEMORY;
    return !f->fault && add(keys, GOOD, 1, MIRE_MAY_INGEST, 0) && add(keys, ADMIN, 2, MIRE_MAY_ADMIN, 0) &&
                   add(keys, EXPIRED, 3, MIRE_MAY_INGEST, 999)
               ? 0
               : f->fault;
}

static int64_t now(void)
{
    return 1000;
}

static const struct http_peer proxies[] = {{{[10] = 0xff, 0xff, 192, 0, 2, 9}}};

static int make(void **state, enum access_mode mode, bool has_people)
{
    static struct fixture fixture;
    fixture = (struct fixture){.has_people = has_people};
    struct access_options options = {.context = &fixture,
                                     .load = load,
                                     .now_us = now,
                                     .ttl_ms = 600000,
                                     .hosts = "mire.example.com",
                                     .public_urls = "https://mire.example.com http://lan.example",
                                     .address = {0.001, 3},
                                     .proxies = proxies,
                                     .proxy_count = 1,
                                     .proxy_user_header = "X-Mire-User",
                                     .mode = mode};
    arena_init(&fixture.arena, 1 << 20);
    *state = &fixture;
    assert_true(http_peer_parse(&fixture.request.peer, "127.0.0.1"));
    return access_new(&fixture.access, &options);
}

static int setup(void **state)
{
    return make(state, MIRE_MODE_SIGN_IN, false);
}

static int setup_people(void **state)
{
    return make(state, MIRE_MODE_SINGLE, true);
}

static int setup_single(void **state)
{
    return make(state, MIRE_MODE_SINGLE, false);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    access_free(f->access);
    arena_fini(&f->arena);
    text_fini(&f->reply.text);
    return 0;
}

/* The status, or 0 if the request may go on, with a header besides; of the app "" the path names none. */
static int ask_with(struct fixture *f, enum http_method method, int who, const char *app, struct http_pair header)
{
    f->headers[0] = header;
    f->headers[1] = (struct http_pair){MIRE_CHANGE_HEADER, "1"};
    f->route = (struct http_route){.pattern = *app ? "/api/v1/apps/{app}/x" : "/api/v1/reports", .who = who};
    f->reply.header_count = 0;
    f->request.method = method;
    f->request.route = &f->route;
    f->request.path = "/api/v1/x";
    f->request.params[0] = *app ? app : NULL;
    f->request.host = f->request.host ? f->request.host : "localhost:7117";
    f->request.headers = f->headers;
    f->request.header_count = 2;
    f->request.arena = &f->arena;
    f->request.may_block = false;
    f->request.grant = (struct http_grant){0};
    int rc = access_check(f->access, &f->request, &f->reply);
    if (rc == MIRE_HTTP_BLOCKS) {
        f->request.may_block = true;
        rc = access_check(f->access, &f->request, &f->reply);
    }
    return rc == MIRE_HTTP_ADMITTED ? 0 : rc == MIRE_HTTP_DONE ? f->reply.status : -1;
}

static int ask(struct fixture *f, enum http_method method, int who, const char *key)
{
    static char bearer[100];
    snprintf(bearer, sizeof bearer, "Bearer %s", key ? key : "");
    return ask_with(f, method, who, "", (struct http_pair){key ? "Authorization" : "X-None", bearer});
}

static void a_key_opens_its_scope(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, GOOD), 0);
    assert_int_equal(f->request.grant.app_id, 7);
    assert_int_equal(f->request.grant.key_id, 1);
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_SERVER, ADMIN), 401);
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_SELF, ADMIN), 401);
    for (int who = MIRE_MAY_SYMBOLS; who <= MIRE_MAY_TRIAGE; who++) {
        assert_int_equal(ask(f, MIRE_HTTP_GET, who, GOOD), 401);
        assert_int_equal(ask(f, MIRE_HTTP_GET, who, ADMIN), 0);
    }
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, ADMIN), 401);
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, EXPIRED), 401);
    assert_int_equal(f->loads, 1);
}

static void without_a_key_nobody_may_anything(void **state)
{
    struct fixture *f = *state;
    for (int who = MIRE_MAY_INGEST; who < MIRE_MAY_END; who++)
        assert_int_equal(ask(f, MIRE_HTTP_GET, who, NULL), who == MIRE_MAY_KNOCK ? 0 : 401);
    assert_int_equal(
        ask_with(f, MIRE_HTTP_POST, MIRE_MAY_SIGN, "shop", (struct http_pair){"Linear-Signature", "of the body"}), 0);
    assert_int_equal(ask(f, MIRE_HTTP_GET, 0, BAD), 0); /* asks nothing */
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, BAD), 401);
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, "nonsense"), 401);
}

static const struct http_pair nothing = {"X-None", ""};
static const struct http_pair cookie = {"Cookie", "theme=dark; mire_sign_in=" COOKIE "; other=1"};
static const struct http_pair token = {"Authorization", "Bearer " TOKEN};

static void the_user_of_the_machine_needs_no_account_while_there_is_none(void **state)
{
    struct fixture *f = *state;
    for (int who = MIRE_MAY_READ; who <= MIRE_MAY_TRIAGE; who++)
        assert_int_equal(ask_with(f, MIRE_HTTP_GET, who, "shop", nothing), 0);
    assert_string_equal(f->request.grant.via, "local");
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, NULL), 401);
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_SERVER, NULL), 403);
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_SELF, NULL), 403);
    static const char *const traces[] = {"X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) /* somebody else, behind a proxy */
        assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", (struct http_pair){traces[i], "x"}), 401);
    assert_true(http_peer_parse(&f->request.peer, "192.0.2.1"));
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, NULL), 401);
    f->has_people = true;
    access_forget(f->access);
    assert_true(http_peer_parse(&f->request.peer, "127.0.0.1"));
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, NULL), 401);
}

static void a_role_opens_what_those_below_it_open_too(void **state)
{
    struct fixture *f = *state;
    for (int who = MIRE_MAY_INGEST; who < MIRE_MAY_END; who++) {
        bool may = who == MIRE_MAY_READ || who == MIRE_MAY_TRIAGE || who == MIRE_MAY_KNOCK || who == MIRE_MAY_SELF;
        int refused = who == MIRE_MAY_INGEST || who == MIRE_MAY_SIGN ? 401 : 403;
        assert_int_equal(ask_with(f, MIRE_HTTP_GET, who, "shop", cookie), may ? 0 : refused);
        assert_int_equal(ask_with(f, MIRE_HTTP_GET, who, "other", cookie), who == MIRE_MAY_TRIAGE ? 403
                                                                           : may                  ? 0
                                                                                                  : refused);
    }
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", cookie), 0);
    assert_string_equal(f->request.grant.who, "anna");
    assert_int_equal(f->request.grant.account_id, 21);
    assert_int_equal(f->request.grant.credential_id, 11);
}

static void a_token_may_no_more_than_its_scope(void **state)
{
    struct fixture *f = *state;
    for (int who = MIRE_MAY_SYMBOLS; who < MIRE_MAY_END; who++) {
        bool may = who == MIRE_MAY_READ || who == MIRE_MAY_TRIAGE || who == MIRE_MAY_KNOCK;
        assert_int_equal(ask_with(f, MIRE_HTTP_GET, who, "shop", token), may ? 0 : who == MIRE_MAY_SIGN ? 401 : 403);
    }
    /* neither is good in the place of the other */
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, COOKIE), 401);
    assert_int_equal(
        ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", (struct http_pair){"Cookie", "mire_sign_in=" TOKEN}), 401);
}

static void a_change_by_cookie_needs_the_header(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask_with(f, MIRE_HTTP_POST, MIRE_MAY_TRIAGE, "shop", cookie), 0);
    f->request.header_count = 1;
    assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_DONE);
    assert_int_equal(f->reply.status, 403);
}

static void over_tls_the_cookie_is_bound_to_the_host(void **state)
{
    struct fixture *f = *state;
    const struct http_pair bound = {"Cookie", "__Host-mire_sign_in=" COOKIE};
    const char *set;
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", bound), 401);
    f->request.host = "mire.example.com";
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", bound), 0);
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", cookie), 401);
    assert_true(access_may_sign_in(f->access, &f->request));
    f->request.host = "lan.example";
    assert_true(access_may_sign_in(f->access, &f->request));
    f->request.host = "192.0.2.7:7117"; /* plain HTTP, and nobody said that it is meant */
    assert_false(access_may_sign_in(f->access, &f->request));
    set = cookie_of_sign_in(&f->arena, COOKIE, 2592000, true);
    assert_string_equal(set, "__Host-mire_sign_in=" COOKIE "; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure");
    set = cookie_of_sign_in(&f->arena, "", 0, false);
    assert_string_equal(set, "mire_sign_in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
}

static void a_trusted_proxy_alone_names_people(void **state)
{
    struct fixture *f = *state;
    const struct http_pair named = {"X-Mire-User", "Anna"};
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_READ, "shop", named), 401);
    f->request.peer = proxies[0];
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_TRIAGE, "shop", named), 0);
    assert_string_equal(f->request.grant.via, "proxy");
    assert_int_equal(ask_with(f, MIRE_HTTP_GET, MIRE_MAY_ADMIN, "shop", named), 403);
}

static void passwords_are_tried_slowly(void **state)
{
    struct fixture *f = *state;
    struct http_peer one, other;
    int tried = 0;
    assert_true(http_peer_parse(&one, "192.0.2.1"));
    assert_true(http_peer_parse(&other, "198.51.100.1"));
    while (tried < 1000 && !access_wait_to_sign_in(f->access, "Anna", &one))
        tried++;
    assert_in_range(tried, 8, 12);
    assert_true(access_wait_to_sign_in(f->access, "anna", &one) > 0);
    assert_int_equal(access_wait_to_sign_in(f->access, "anna", &other), 0); /* she herself is not locked out */
    assert_int_equal(access_wait_to_sign_in(f->access, "lee", &one), 0);
}

static void a_key_opens_its_own_app_alone(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, ADMIN), 0);
    f->route.pattern = "/api/v1/apps/{app}/issues";
    f->request.params[0] = "shop";
    assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_ADMITTED);
    f->request.params[0] = "other";
    assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_DONE);
    assert_int_equal(f->reply.status, 401);
}

/* The key of a Sentry SDK, in each place that it may stand in. */
static void a_dsn_opens_its_own_project_alone(void **state)
{
    static const char *const headers[] = {"X-Sentry-Auth", "Authorization"};
    struct fixture *f = *state;
    char sent[200];
    snprintf(sent, sizeof sent, "Sentry sentry_version=7, sentry_key=%s, sentry_client=test/1", GOOD);
    for (size_t i = 0; i < 2; i++) {
        (void)ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, NULL);
        f->route.pattern = MIRE_SENTRY_PATH "envelope/";
        f->request.params[0] = "7";
        f->headers[0] = (struct http_pair){headers[i], sent};
        f->request.may_block = true;
        assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_ADMITTED);
        assert_int_equal(f->request.grant.app_id, 7);
        f->request.params[0] = "8";
        assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_DONE);
        f->request.params[0] = "7";
        f->headers[0].value = "Sentry sentry_key=";
        assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_DONE);
        assert_int_equal(f->reply.status, 401);
    }
    f->headers[0] = (struct http_pair){"X-None", ""};
    f->request.query[0] = (struct http_pair){"sentry_key", GOOD};
    f->request.query_count = 1;
    assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_ADMITTED);
    f->route.pattern = "/api/v1/reports"; /* no other route takes a key of that form */
    assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_DONE);
    f->request.query_count = 0;
}

static void a_crowd_of_unknown_keys_costs_few_queries(void **state)
{
    struct fixture *f = *state;
    int refused = 0;
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, GOOD), 0);
    for (int i = 0; i < 1000; i++) {
        char key[] = BAD;
        key[3] = (char)('a' + i % 26);
        key[4] = (char)('a' + i / 26 % 26);
        key[5] = (char)('a' + i / 676);
        int status = ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, key);
        assert_true(status == 401 || status == 503); /* 503: it may be good, and nobody asks for it now */
        refused += status == 401;
    }
    assert_int_equal(f->loads, 1 + refused);
    assert_in_range(refused, 50, 50 + 10 * 60); /* on a machine that takes a minute for it */
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, GOOD), 0);
}

static void a_network_thread_does_not_wait_for_keys(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_READ, NULL), 401);
    assert_int_equal(ask(f, MIRE_HTTP_GET, 0, NULL), 0);
    f->fault = MIRE_FAULT_AWAY;
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, GOOD), -1);
    f->request.may_block = false;
    assert_int_equal(access_check(f->access, &f->request, &f->reply), MIRE_HTTP_BLOCKS);
}

static void whoever_comes_too_often_is_told_when_to_come_again(void **state)
{
    struct fixture *f = *state;
    assert_true(http_peer_parse(&f->request.peer, "2001:db8::1"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(f, MIRE_HTTP_POST, MIRE_MAY_INGEST, GOOD), 0);
    assert_true(http_peer_parse(&f->request.peer, "2001:db8::ffff")); /* the same network */
    assert_int_equal(ask(f, MIRE_HTTP_POST, MIRE_MAY_INGEST, GOOD), 429);
    assert_string_equal(f->reply.headers[0].name, "Retry-After");
    assert_int_equal(ask(f, MIRE_HTTP_GET, MIRE_MAY_INGEST, GOOD), 0);
    assert_true(http_peer_parse(&f->request.peer, "192.0.2.1"));
    assert_int_equal(ask(f, MIRE_HTTP_POST, MIRE_MAY_INGEST, GOOD), 0);
    assert_true(http_peer_parse(&f->request.peer, "127.0.0.1"));
    for (int i = 0; i < 9; i++)
        assert_int_equal(ask(f, MIRE_HTTP_POST, MIRE_MAY_INGEST, GOOD), 0);
}

static uint64_t asker_of(int64_t account, int64_t key, const char *address)
{
    struct http_grant grant = {.account_id = account, .key_id = key};
    assert_true(http_peer_parse(&grant.client, address));
    return access_asker(&grant);
}

static void an_asker_is_a_person_a_key_or_an_address(void **state)
{
    (void)state;
    assert_int_equal(asker_of(7, 0, "192.0.2.1"), asker_of(7, 0, "2001:db8::1"));
    assert_int_not_equal(asker_of(7, 0, "192.0.2.1"), asker_of(8, 0, "192.0.2.1"));
    assert_int_equal(asker_of(0, 7, "192.0.2.1"), asker_of(0, 7, "127.0.0.1"));
    assert_int_not_equal(asker_of(0, 7, "192.0.2.1"), asker_of(7, 0, "192.0.2.1"));
    assert_int_not_equal(asker_of(0, 0, "192.0.2.1"), asker_of(0, 0, "192.0.2.2"));
    assert_int_equal(asker_of(0, 0, "2001:db8::1"), asker_of(0, 0, "2001:db8::ffff"));
    assert_int_not_equal(asker_of(0, 0, "2001:db8::1"), asker_of(0, 0, "2001:db8:0:1::1"));
    assert_int_equal(asker_of(0, 0, "127.0.0.1"), 0);
    assert_int_not_equal(asker_of(7, 0, "127.0.0.1"), 0);
}

static void a_host_is_an_address_or_named(void **state)
{
    (void)state;
    static const char *const good[] = {"127.0.0.1:7117", "localhost",        "LOCALHOST:1",          "[::1]:7117",
                                       "192.0.2.7",      "mire.example.com", "Mire.Example.com:443", "b.example"};
    static const char *const bad[] = {
        "attacker.example",           "mire.example.com.attacker.example", "example.com", "",      ":80",
        "localhost.attacker.example", "1.2.3.4.attacker.example",          "[::1",        "[::1]x"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(origin_knows_host("mire.example.com b.example", good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(origin_knows_host("mire.example.com b.example", bad[i]));
}

struct asked {
    enum http_method method;
    const char *host, *site, *mode, *origin, *ours;
    int status; /* 0: goes on */
};

static void a_foreign_page_may_not_ask(void **state)
{
    struct fixture *f = *state;
    static const struct asked all[] = {
        {MIRE_HTTP_GET, "localhost", "same-origin", "cors", NULL, NULL, 0},
        {MIRE_HTTP_GET, "localhost", "none", "navigate", NULL, NULL, 0},
        {MIRE_HTTP_GET, "localhost", "cross-site", "navigate", NULL, NULL, 0}, /* a link in a chat */
        {MIRE_HTTP_GET, "localhost", "cross-site", "no-cors", NULL, NULL, 403},
        {MIRE_HTTP_GET, "localhost", "same-site", "cors", NULL, NULL, 403},
        {MIRE_HTTP_GET, "rebound.example", "same-origin", "cors", NULL, NULL, 421},
        {MIRE_HTTP_POST, "localhost", "same-origin", "cors", "http://localhost", "1", 0},
        {MIRE_HTTP_POST, "localhost", NULL, NULL, NULL, "1", 0},
        {MIRE_HTTP_POST, "localhost", NULL, NULL, NULL, NULL, 403},
        {MIRE_HTTP_POST, "localhost", "cross-site", "navigate", NULL, "1", 403}, /* a form */
        {MIRE_HTTP_POST, "localhost:1", NULL, NULL, "http://localhost:2", "1", 403},
        {MIRE_HTTP_POST, "localhost", NULL, NULL, "null", "1", 403},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct asked *one = &all[i];
        const struct http_pair sent[] = {{"Sec-Fetch-Site", one->site},
                                         {"Sec-Fetch-Mode", one->mode},
                                         {"Origin", one->origin},
                                         {MIRE_CHANGE_HEADER, one->ours}};
        f->request =
            (struct request){.method = one->method, .host = one->host, .headers = f->headers, .arena = &f->arena};
        for (size_t h = 0; h < 4; h++)
            if (sent[h].value)
                f->headers[f->request.header_count++] = sent[h];
        f->reply.status = 0;
        assert_int_equal(origin_refuse("", true, &f->request, &f->reply), one->status != 0);
        assert_int_equal(f->reply.status, one->status);
    }
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#define WITH_PEOPLE(test) cmocka_unit_test_setup_teardown(test, setup_people, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(a_key_opens_its_scope),
        WITH_FIXTURE(without_a_key_nobody_may_anything),
        cmocka_unit_test_setup_teardown(the_user_of_the_machine_needs_no_account_while_there_is_none, setup_single,
                                        teardown),
        WITH_PEOPLE(a_role_opens_what_those_below_it_open_too),
        WITH_PEOPLE(a_token_may_no_more_than_its_scope),
        WITH_PEOPLE(a_change_by_cookie_needs_the_header),
        WITH_PEOPLE(over_tls_the_cookie_is_bound_to_the_host),
        WITH_PEOPLE(a_trusted_proxy_alone_names_people),
        WITH_PEOPLE(passwords_are_tried_slowly),
        WITH_FIXTURE(a_key_opens_its_own_app_alone),
        WITH_FIXTURE(a_dsn_opens_its_own_project_alone),
        WITH_FIXTURE(a_crowd_of_unknown_keys_costs_few_queries),
        WITH_FIXTURE(a_network_thread_does_not_wait_for_keys),
        WITH_FIXTURE(whoever_comes_too_often_is_told_when_to_come_again),
        cmocka_unit_test(an_asker_is_a_person_a_key_or_an_address),
        WITH_FIXTURE(a_host_is_an_address_or_named),
        WITH_FIXTURE(a_foreign_page_may_not_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
