/*
 * What asking who a reader is adds to a read: CPU time of access_check for one request, on a server with many people.
 *
 *   NAME_us       a read by a sign-in's cookie, a personal token, a key of an app, a proxy's word; median of rounds
 *   open_us       the same of a route that asks nobody: host and origin alone
 *   added_us      the most expensive of them, without that
 *
 * Keys are read again every 10 s by one query, which is not counted here.
 */
#include "access/access.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GOAL_US 20.0

enum { ACCOUNTS = 2000, SIGN_INS = 5, APPS = 500, ROUNDS = 15, ASKS = 20000 };

static char cookie[128], token[128], app_key[128];

static bool add_secret(struct access_keys *keys, struct access_key key, char out[128], const char *before)
{
    char secret[MIRE_KEY_TEXT];
    key_make(secret);
    key_hash(key.hash, secret, strlen(secret));
    snprintf(out, 128, "%s%s", before, secret);
    return access_keys_add(keys, &key);
}

/* Everybody has a role in three apps, five sign-ins and a token; every app has two keys. */
static int load(void *context, struct access_keys *keys)
{
    bool good = true;
    (void)context;
    for (int a = 0; good && a < ACCOUNTS; a++) {
        struct access_account account = {.account_id = a + 1};
        snprintf(account.name, sizeof account.name, "person%d@example.com", a);
        good = access_keys_add_account(keys, &account);
        for (int m = 0; good && m < 3; m++) {
            struct access_member member = {.account_id = a + 1, .role = MIRE_ACCESS_TRIAGER};
            snprintf(member.slug, sizeof member.slug, "app-%d", (a + m) % APPS);
            good = access_keys_add_member(keys, &member);
        }
        struct access_key key = {.key_id = a + 1, .account_id = a + 1, .most = MIRE_ACCESS_SERVER, .is_sign_in = true};
        for (int s = 0; good && s < SIGN_INS; s++)
            good = add_secret(keys, key, cookie, "mire_sign_in=");
        key.is_sign_in = false;
        good = good && add_secret(keys, key, token, "Bearer ");
    }
    for (int a = 0; good && a < APPS; a++) {
        struct access_key key = {.key_id = a + 1, .app_id = a + 1, .scope = MIRE_MAY_READ};
        snprintf(key.slug, sizeof key.slug, "app-%d", (ACCOUNTS - 1) % APPS);
        good = add_secret(keys, key, app_key, "Bearer ") && add_secret(keys, key, app_key, "Bearer ");
    }
    return good ? 0 : -1;
}

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct asked {
    const char *name, *header, *value;
    int who, expected;
};

/* CPU time of one question; < 0: it was answered in another way. */
static double measure(struct access *access, const struct asked *asked, int asks)
{
    struct http_pair headers[] = {
        {"Accept", "application/json"}, {asked->header, asked->value}, {"Sec-Fetch-Site", "same-origin"}};
    struct http_route route = {.pattern = "/api/v1/apps/{app}/issues", .who = asked->who};
    struct arena arena;
    char slug[MIRE_ACCESS_SLUG];
    double rounds[ROUNDS];
    snprintf(slug, sizeof slug, "app-%d", (ACCOUNTS - 1) % APPS);
    struct request request = {.method = MIRE_HTTP_GET,
                              .route = &route,
                              .path = "/api/v1/apps/app/issues",
                              .params = {slug},
                              .host = "localhost:7117",
                              .headers = headers,
                              .header_count = 3,
                              .arena = &arena,
                              .may_block = true};
    http_peer_parse(&request.peer, "127.0.0.1");
    arena_init(&arena, 1 << 20);
    for (int r = 0; r < ROUNDS; r++) {
        double begun = cpu_us();
        for (int i = 0; i < asks; i++) {
            struct reply reply = {0};
            if (access_check(access, &request, &reply) != asked->expected)
                return -1;
            text_fini(&reply.text);
            arena_reset(&arena);
        }
        rounds[r] = (cpu_us() - begun) / asks;
    }
    arena_fini(&arena);
    qsort(rounds, ROUNDS, sizeof *rounds, by_size);
    return rounds[ROUNDS / 2];
}

int main(void)
{
    static const struct http_peer proxies[] = {{{[10] = 0xff, 0xff, 127, 0, 0, 1}}};
    const struct access_options options = {.load = load,
                                           .now_us = clock_wall_us,
                                           .ttl_ms = 3600000,
                                           .hosts = "",
                                           .public_urls = "",
                                           .proxies = proxies,
                                           .proxy_count = 1,
                                           .proxy_user_header = "X-Mire-User",
                                           .mode = MIRE_MODE_SIGN_IN};
    char person[64];
    struct access *access;
    snprintf(person, sizeof person, "person%d@example.com", ACCOUNTS - 1);
    const struct asked all[] = {{"open", "X-Other", "1", 0, MIRE_HTTP_ADMITTED},
                                {"cookie", "Cookie", cookie, MIRE_MAY_READ, MIRE_HTTP_ADMITTED},
                                {"token", "Authorization", token, MIRE_MAY_READ, MIRE_HTTP_ADMITTED},
                                {"key", "Authorization", app_key, MIRE_MAY_READ, MIRE_HTTP_ADMITTED},
                                {"proxy", "X-Mire-User", person, MIRE_MAY_READ, MIRE_HTTP_ADMITTED}};
    double open = 0, most = 0;
    if (access_new(&access, &options))
        return 2;
    /* The first question reads all keys; their secrets are known from then on. */
    (void)measure(access,
                  &(struct asked){"", "Authorization", "Bearer mk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                  MIRE_MAY_READ, MIRE_HTTP_DONE},
                  1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double us = measure(access, &all[i], ASKS);
        printf("%s_us %.2f us\n", all[i].name, us);
        if (us < 0)
            return 2;
        if (i == 0)
            open = us;
        most = us > most ? us : most;
    }
    bool met = most - open <= GOAL_US;
    printf("added_us %.2f us | goal <= %.0f | %s\n", most - open, GOAL_US, met ? "ok" : "short");
    access_free(access);
    return met ? 0 : 1;
}
