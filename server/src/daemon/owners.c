/* owners.c - see owners.h. */
#include "daemon/owners.h"

#include "api/parts.h"
#include "base/arena.h"
#include "base/fault.h"
#include "base/log.h"
#include "model/owners.h"
#include "rows/audit.h"
#include "rows/owners.h"
#include "rows/triage.h"

#define ARENA_BYTES (64u << 20)
#define AT_ONCE     500 /* issues of one transaction */
#define AUTHOR      "mire"

struct app_owners {
    int32_t app; /* 0: none read yet */
    const char *rules, *root;
    const char **people;
    size_t people_count;
};

static int read_app(struct app_owners *out, struct pg_tx *tx, struct arena *arena, int32_t app)
{
    if (out->app == app)
        return 0;
    out->app = app;
    int rc = rows_owners_read(&out->rules, &out->root, tx, arena, app);
    return rc ? rc : rows_assignees_read(&out->people, &out->people_count, tx, arena, app);
}

/* The rule of Caller1; that of Caller2, the scene, if none fits. */
static void find_rule(struct owners_found *out, const struct app_owners *of, const struct owners_due *due)
{
    owners_find(out, of->rules,
                &(struct owners_place){due->caller1, due->caller1_image, due->caller1_location, of->root});
    if (!out->line)
        owners_find(out, of->rules, &(struct owners_place){due->caller2, due->caller2_image, "", of->root});
}

/* The first owner with a role in the app; NULL: none. */
static const char *find_person(const struct app_owners *of, const struct owners_found *found)
{
    for (size_t i = 0; i < found->count; i++)
        for (size_t k = 0; k < of->people_count; k++)
            if (owner_is(&found->owners[i], of->people[k]))
                return of->people[k];
    return NULL;
}

static int assign(struct pg_tx *tx, struct arena *arena, const struct app_owners *of, const struct owners_due *due)
{
    struct owners_found found;
    int64_t batch;

    find_rule(&found, of, due);
    const char *person = find_person(of, &found);
    if (!person)
        return 0;
    const char *why = arena_printf(arena, "owner of %.*s, line %u of the app's owners", (int)found.pattern_len,
                                   found.pattern, found.line);
    const char *after = arena_printf(arena, "assigned to %s", person);
    if (!why || !after)
        return MIRE_FAULT_MEMORY;
    int rc = rows_triage_set(
        &batch, tx,
        &(struct triage_change){.app = due->app, .who = AUTHOR, .why = why, .version = "", .assignee = person},
        &due->issue, 1);
    if (rc)
        return rc < 0 ? rc : 0;
    return rows_audit_add(tx, &(struct audit_row){.who = AUTHOR,
                                                  .via = "server",
                                                  .address = "",
                                                  .app = due->app,
                                                  .action = "issue.assigned",
                                                  .subject = part_issue_name(due->issue, due->memory).text,
                                                  .after = after,
                                                  .reason = why});
}

/* Up to AT_ONCE issues; *more_out: there may be more. 0 or a fault. */
static int step(bool *more_out, struct pg *pg, struct arena *arena)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct app_owners of = {0};
    struct owners_due *due = NULL;
    size_t count = 0;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_owners_due(&due, &count, tx, arena, AT_ONCE);
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues);
    if (rc || !issues)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; !rc && i < count; i++) {
        issues[i] = due[i].issue;
        rc = read_app(&of, tx, arena, due[i].app);
        if (!rc && due[i].is_free)
            rc = assign(tx, arena, &of, &due[i]);
    }
    if (!rc && count)
        rc = rows_owners_sought(tx, issues, count);
    *more_out = count == AT_ONCE;
    return rc ? rc : pg_commit(&tx);
}

int owners_step(struct pg *pg, const struct log *log)
{
    struct arena arena;
    bool more = true;
    int rc = 0;

    arena_init(&arena, ARENA_BYTES);
    while (!rc && more) {
        rc = step(&more, pg, &arena);
        arena_reset(&arena);
    }
    arena_fini(&arena);
    if (rc)
        log_event(log, MIRE_LOG_WARN, "owners.step", LOG_TEXT("fault", fault_name(rc)),
                  LOG_TEXT("next", "The next round, in a minute, tries again."));
    return rc;
}
