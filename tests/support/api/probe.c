/*
 * probe.c - calls the API's handlers directly, without a socket, on a database of a PostgreSQL server of its own.
 *
 *   stdout  first the database's connection string; then for each request the status, the headers and the body,
 *           as "STATUS LENGTH\n", "Name: value\n"..., "\n", LENGTH bytes
 *   stdin   one request a line: a request target, then header lines "Name: value" after tabs. "POST " in front of the
 *           target makes it a POST, whose last field is the body. "ROLLUP" makes all rollups anew, and answers nothing
 *
 *   api_probe NOW_US WEB_DIR     the clock is fixed at NOW_US
 */
#include "api/api.h"
#include "base/vault.h"
#include "pg/pg.h"
#include "rows/rollup.h"
#include "support/pgtest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (256u << 20)

static int64_t now;

static int64_t now_us(void)
{
    return now;
}

static size_t split_headers(struct http_pair *headers, size_t cap, char *rest)
{
    size_t count = 0;
    char *line;

    while (rest && count < cap && (line = strsep(&rest, "\t"))) {
        char *value = strstr(line, ": ");
        if (!value)
            continue;
        *value = '\0';
        headers[count++] = (struct http_pair){line, value + 2};
    }
    return count;
}

static void answer(struct api *api, char *line)
{
    const struct http_table table = {api_routes, api_route_count, api};
    struct http_pair headers[16];
    struct arena arena;
    struct reply reply = {0};
    bool post = strncmp(line, "POST ", 5) == 0;
    char *posted = post ? strrchr(line, '\t') : NULL, allow[64];
    if (posted)
        *posted++ = '\0';
    line += post ? 5 : 0;
    char *target = strsep(&line, "\t");
    struct request request = {.method = post ? MIRE_HTTP_POST : MIRE_HTTP_GET,
                              .headers = headers,
                              .arena = &arena,
                              .grant = {.who = "probe", .via = "local"}, /* sees every app */
                              .reply = &reply,
                              .body = (const uint8_t *)posted,
                              .body_len = posted ? strlen(posted) : 0};
    void *context = NULL;

    arena_init(&arena, ARENA_BYTES);
    request.header_count = split_headers(headers, 16, line);
    snprintf(request.id, sizeof request.id, "probe");
    int rc = request_parse_target(&request, target);
    if (rc == 0)
        rc = http_route_find(&request, &context, allow, &table, 1);
    if (rc == 0)
        http_call(context, &request, &reply);
    else
        reply.status = rc;
    const void *body = reply.body ? reply.body : reply.text.bytes;
    size_t len = reply.body ? reply.body_len : reply.text.len;
    printf("%d %zu\n", reply.status, len);
    if (reply.type)
        printf("Content-Type: %s\n", reply.type);
    for (size_t i = 0; i < reply.header_count; i++)
        printf("%s: %s\n", reply.headers[i].name, reply.headers[i].value);
    printf("\n");
    fwrite(body ? body : "", 1, len, stdout);
    fflush(stdout);
    text_fini(&reply.text);
    arena_fini(&arena);
}

/* Make the rollups of all events that were put into the tables. */
static void roll_up(struct pg *pg)
{
    bool more = true;
    pgtest_run(pg, "DELETE FROM rollup");
    pgtest_run(pg,
               "INSERT INTO rollup_due (slot, app_id, issue_id, day) SELECT DISTINCT 0, app_id, x,"
               " (occurred_at AT TIME ZONE 'UTC')::date FROM event CROSS JOIN LATERAL (VALUES (issue_id), (0)) v (x)");
    pgtest_run(pg, "DELETE FROM standing");
    pgtest_run(pg,
               "INSERT INTO standing_due (slot, app_id, day) SELECT DISTINCT 0, app_id, (hour AT TIME ZONE 'UTC')::date"
               " FROM (SELECT app_id, hour FROM version_hour UNION SELECT app_id, hour FROM issue_hour"
               " UNION SELECT app_id, hour FROM turn_hour) h");
    while (more)
        if (rows_rollups_merge(&more, pg, now))
            exit(2);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;

    if (argc != 3 || pgtest_start(NULL) != 0)
        return 2;
    now = strtoll(argv[1], NULL, 10);
    struct pg *pg = pgtest_database(2);
    struct vault *vault = vault_for_once();
    struct api api = {.pg = pg, .web_dir = argv[2], .now_us = now_us, .nearby = nearby_new(), .vault = vault};
    printf("%s\n", pgtest_database_conninfo());
    fflush(stdout);
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "ROLLUP") == 0)
            roll_up(pg);
        else
            answer(&api, line);
    }
    free(line);
    nearby_free(api.nearby);
    vault_close(vault);
    pg_close(pg);
    return pgtest_stop(NULL);
}
