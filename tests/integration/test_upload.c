/*
 * A debug file is uploaded, and a report that arrives after it has names: PUT /api/v1/symbols, the pieces in the
 * database, the worker's cache.
 */
#include "api/api.h"
#include "base/clock.h"
#include "base/log.h"
#include "inbox/inbox.h"
#include "rows/key.h"
#include "rows/symbol.h"
#include "support/pgtest.h"
#include "object/object.h"
#include "pipeline/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APP   1 /* the first one that is made */
#define OTHER 2

extern char __executable_start[];

__attribute__((noinline, used)) static int culprit_function(int n)
{
    return n * 5 + 2;
}

static unsigned char *self(size_t *len_out)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(32 << 20);
    *len_out = fread(bytes, 1, 32 << 20, file);
    fclose(file);
    return bytes;
}

/* Returns the status of an upload with a key of the app. */
static int put(struct pg *pg, int32_t app, const unsigned char *body, size_t len, struct reply *reply)
{
    struct arena arena;
    struct api api = {.pg = pg, .web_dir = "/nowhere", .now_us = clock_wall_us};
    const struct http_table table = {api_routes, api_route_count, &api};
    void *context;
    char allow[64];
    struct request request = {.method = MIRE_HTTP_PUT,
                              .grant = {.app_id = app, .who = "key", .via = "key"},
                              .body = body,
                              .body_len = len,
                              .arena = &arena,
                              .reply = reply,
                              .may_block = true};
    arena_init(&arena, 1 << 20);
    assert_int_equal(request_parse_target(&request, "/api/v1/symbols?name=culprit"), 0);
    assert_int_equal(http_route_find(&request, &context, allow, &table, 1), 0);
    int rc = http_call(context, &request, reply);
    if (rc == MIRE_HTTP_SLOW) {
        request.lane = MIRE_LANE_SLOW;
        rc = http_call(context, &request, reply);
    }
    assert_int_equal(rc, MIRE_HTTP_DONE);
    arena_fini(&arena);
    return reply->status;
}

static int status_of(struct pg *pg, int32_t app, const void *body, size_t len)
{
    struct reply reply = {0};
    int status = put(pg, app, body, len, &reply);
    text_fini(&reply.text);
    return status;
}

/* A report of one sample inside culprit_function. */
static void send_report(struct pg *pg, const struct object_facts *facts)
{
    char id[MIRE_UUID_TEXT];
    char build[2 * MIRE_OBJECT_ID_MAX + 1];
    char body[2048];
    struct uuid uuid;
    uuid_make(&uuid, clock_wall_us());
    uuid_format(id, &uuid);
    hex_format(build, facts->id, facts->id_len);
    int len =
        snprintf(body, sizeof body,
                 "{\"mire\":1,\"id\":\"%s\",\"kind\":\"event\",\"app\":{\"name\":\"a\",\"version\":\"1\"},"
                 "\"device\":{\"install\":\"00112233445566778899aabbccddeeff\",\"os\":\"linux\",\"arch\":\"x86_64\"},"
                 "\"process\":{\"pid\":1,\"name\":\"a\"},"
                 "\"images\":[{\"name\":\"/opt/a/culprit\",\"id\":\"%s\",\"load\":4096}],"
                 "\"frames\":{\"image\":[0],\"offset\":[%lld]},\"nodes\":{\"up\":[1],\"frame\":[0]},"
                 "\"event\":{\"begin_ns\":1,\"duration_ms\":3000,\"threshold_ms\":2000,\"open\":false,"
                 "\"samples\":{\"at_ms\":[0],\"weight_ms\":[50],\"node\":[1],\"state\":\"R\"}}}",
                 id, build, (long long)((const char *)(void *)culprit_function - __executable_start));
    struct inbox_row row = {.report_id = uuid,
                            .app_id = APP,
                            .format = "mire",
                            .encoding = "identity",
                            .body = body,
                            .body_len = (size_t)len};
    assert_int_equal(inbox_store_batch(pg, &row, 1), 0);
}

/* Run a worker until the inbox is empty. */
static void work_through(struct pg *pg, const struct work_options *options)
{
    struct work *work;
    assert_int_equal(work_start(&work, options), 0);
    pgtest_until_none(pg, "SELECT count(*) FROM inbox", NULL);
    work_stop(work);
}

/* The same file with another name for the function, under the same build id. */
static void forge(unsigned char *file, size_t len)
{
    static const char name[] = "culprit_function", other[] = "forged__function";
    unsigned char *at = file;
    while ((at = memmem(at, len - (size_t)(at - file), name, sizeof name)))
        memcpy(at, other, sizeof other);
}

static void an_uploaded_file_gives_reports_their_names(void **state)
{
    (void)state;
    static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};
    struct pg *pg = pgtest_database(4);
    char key[MIRE_KEY_TEXT]; /* making one makes the app */
    char cache[] = "/tmp/mire-cache-XXXXXX";
    size_t len;
    struct object_facts facts;
    unsigned char *file = self(&len);
    assert_null(object_look(&facts, file, len, NULL, 0));
    assert_int_equal(rows_key_create(key, pg, "a", "symbols", ""), 0);

    assert_int_equal(status_of(pg, APP, "MZ", 2), 422);
    assert_int_equal(status_of(pg, APP, file, len / 2), 422);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM symbol_file"), 0);
    assert_int_equal(status_of(pg, APP, file, len), 201);
    assert_int_equal(status_of(pg, APP, file, len), 201); /* again: the same */
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM symbol_file WHERE kind = 'debug' AND name = 'culprit'"),
                     1);
    assert_int_equal(pgtest_number(pg, "SELECT size_bytes FROM symbol_file"), len);
    size_t others_len;
    unsigned char *others = self(&others_len);
    forge(others, others_len);
    assert_int_equal(rows_key_create(key, pg, "b", "symbols", ""), 0);
    assert_int_equal(status_of(pg, OTHER, others, others_len), 201);
    assert_int_equal(pgtest_number(pg, "SELECT count(DISTINCT hash) FROM symbol_chunk"), 2);
    free(others);

    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    assert_non_null(mkdtemp(cache));
    options.pg = pg;
    options.log = &quiet;
    options.cache_dir = cache;
    send_report(pg, &facts);
    work_through(pg, &options);
    assert_int_equal(
        pgtest_number(pg,
                      "SELECT count(*) FROM issue WHERE caller1 = 'culprit_function'"
                      " AND caller1_image = 'culprit' AND caller1_location LIKE '%test_upload.c:%' AND reason = 'cpu'"),
        1);
    /* Contents that no file has any more go; those of a file stay. */
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    pgtest_run(pg, "DELETE FROM symbol_file WHERE app_id <> 1");
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    int64_t deleted;
    assert_int_equal(rows_symbol_sweep(&deleted, tx, 365), 0);
    assert_int_equal(deleted, 0);
    assert_int_equal(pg_commit(&tx), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(DISTINCT hash) FROM symbol_chunk"), 1);
    /* A file that a report has frames of stays, however old it is; one that none had for a year goes. */
    pgtest_run(pg, "UPDATE symbol_file SET used_on = current_date - 400, uploaded_at = now() - interval '400 days'");
    send_report(pg, &facts);
    work_through(pg, &options);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM symbol_file WHERE used_on = current_date"), 1);
    pgtest_run(pg, "INSERT INTO symbol_file (build_id, kind, app_id, arch, name, size_bytes, hash, last_hash, used_on)"
                   " SELECT '\\x0102', kind, 1, arch, 'old', 1, hash, hash, current_date - 366 FROM symbol_file");
    assert_int_equal(pg_begin(&tx, pg, MIRE_PG_WRITE), 0);
    assert_int_equal(rows_symbol_sweep(&deleted, tx, 0), 0);
    assert_int_equal(deleted, 0);
    assert_int_equal(rows_symbol_sweep(&deleted, tx, 365), 0);
    assert_int_equal(deleted, 1);
    assert_int_equal(pg_commit(&tx), 0);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM symbol_file WHERE name = 'culprit'"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(DISTINCT hash) FROM symbol_chunk"), 1);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cache);
    assert_int_equal(system(command), 0);
    free(file);
    pg_close(pg);
}

/* A file of another app names nothing, whatever its build id. */
static void a_file_of_another_app_names_nothing(void **state)
{
    (void)state;
    static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};
    struct pg *pg = pgtest_database(4);
    char key[MIRE_KEY_TEXT];
    char cache[] = "/tmp/mire-cache-XXXXXX";
    size_t len;
    struct object_facts facts;
    unsigned char *file = self(&len);
    assert_null(object_look(&facts, file, len, NULL, 0));
    assert_int_equal(rows_key_create(key, pg, "a", "ingest", ""), 0);
    assert_int_equal(rows_key_create(key, pg, "b", "symbols", ""), 0);
    assert_int_equal(status_of(pg, OTHER, file, len), 201);
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    assert_non_null(mkdtemp(cache));
    options.pg = pg;
    options.log = &quiet;
    options.cache_dir = cache;
    send_report(pg, &facts);
    work_through(pg, &options);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue"), 1);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue WHERE caller1 = 'culprit_function'"), 0);
    assert_true(pgtest_number(pg, "SELECT count(*) FROM missing_debug_file WHERE app_id = 1") > 0);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cache);
    assert_int_equal(system(command), 0);
    free(file);
    pg_close(pg);
}

/* Returns the number of converted files in the cache, and their bytes; no other file of a module is there. */
static int cached(uint64_t *bytes_out, const char *cache)
{
    int count = 0;
    struct stat info;
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    *bytes_out = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".debug") && !fstatat(dirfd(dir), entry->d_name, &info, 0)) {
            assert_non_null(strstr(entry->d_name, ".debug.cache"));
            *bytes_out += (uint64_t)info.st_size;
            count++;
        }
    closedir(dir);
    return count;
}

/* Four modules of one size with different build ids, and room for an upload and two converted files. */
static void converted_files_stay_below_the_caches_limit(void **state)
{
    (void)state;
    static const struct log quiet = {.fd = 2, .least = MIRE_LOG_OFF};
    struct pg *pg = pgtest_database(4);
    char key[MIRE_KEY_TEXT]; /* making one makes the app */
    char cache[] = "/tmp/mire-cache-XXXXXX";
    size_t len;
    uint64_t bytes;
    struct object_facts facts;
    unsigned char *file = self(&len);
    assert_null(object_look(&facts, file, len, NULL, 0));
    unsigned char *build = memmem(file, len, facts.id, facts.id_len);
    assert_non_null(build);
    assert_int_equal(rows_key_create(key, pg, "a", "symbols", ""), 0);
    struct work_options options = MIRE_WORK_OPTIONS_INIT;
    options.by_slot = pgtest_on_citus();
    assert_non_null(mkdtemp(cache));
    options.pg = pg;
    options.log = &quiet;
    options.cache_dir = cache;
    for (int i = 0; i < 4; i++) {
        build[0]++;
        memcpy(facts.id, build, facts.id_len);
        assert_int_equal(status_of(pg, APP, file, len), 201);
        send_report(pg, &facts);
        work_through(pg, &options);
        assert_int_equal(cached(&bytes, cache), i < 3 ? i + 1 : 3); /* two, and the new one */
        if (!options.cache_max_bytes)
            options.cache_max_bytes = len + 2 * bytes + bytes / 2;
        assert_true(bytes <= options.cache_max_bytes);
    }
    assert_int_equal(pgtest_number(pg, "SELECT sum(reports)::int8 FROM issue_hour"), 4);
    assert_int_equal(pgtest_number(pg, "SELECT count(*) FROM issue WHERE caller1 = 'culprit_function'"), 1);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cache);
    assert_int_equal(system(command), 0);
    free(file);
    pg_close(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_uploaded_file_gives_reports_their_names),
        cmocka_unit_test(a_file_of_another_app_names_nothing),
        cmocka_unit_test(converted_files_stay_below_the_caches_limit),
    };
    return cmocka_run_group_tests(tests, pgtest_start, pgtest_stop);
}
