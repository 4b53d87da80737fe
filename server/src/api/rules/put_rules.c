/*
 * put_rules.c - changes of an app's rules: PUT .../rules, POST .../rules/back, and POST .../rules/preview, which stores
 * nothing. Each starts a job that derives the app's reports again in the background, for a preview only to count the
 * moves.
 */
#include "api/api.h"
#include "api/change.h"
#include "api/handlers.h"

#include "base/fault.h"
#include "feature/rules.h"
#include "rows/rekey.h"

#include <stdio.h>
#include <string.h>

#define NOTHING_TO_SAY "preview" /* a preview has no author and no reason of its own */

static const struct bind_field put_fields[] = {
    MIRE_CHANGE_FIELDS,
    {"rules", MIRE_BIND_TEXT, offsetof(struct change, row.rules), .required = true, .max = MIRE_RULES_TEXT_MAX},
};
static const struct bind_field back_fields[] = {
    MIRE_CHANGE_FIELDS,
    {"to", MIRE_BIND_U64, offsetof(struct change, to), .required = true, .min = 1, .max = INT64_MAX},
};
static const struct bind_field preview_fields[] = {
    {"rules", MIRE_BIND_TEXT, offsetof(struct change, row.rules), .required = true, .max = MIRE_RULES_TEXT_MAX},
};

/* Are the rules valid? 0, 1 (the reply has the malformed line), or a fault. */
static int check(struct change *change)
{
    const struct rules_source source = {"app", change->row.rules, strlen(change->row.rules), 1};
    struct problem problem = MIRE_PROBLEM_INIT;
    struct rules_fault fault = {0};
    struct rules *rules = NULL;

    switch (rules_make(&rules, &fault, &source, 1)) {
    case MIRE_RULES_OK:
        rules_free(rules);
        return 0;
    case MIRE_RULES_WRONG:
        problem_set(&problem, "rules.wrong", "Line %u: %s.", fault.line, fault.text);
        snprintf(problem.path, sizeof problem.path, "/rules/%u", fault.line);
        problem.has_path = 1;
        reply_problem(change->reply, change->request, 422, &problem);
        return 1;
    default:
        return MIRE_FAULT_MEMORY;
    }
}

static int ask(struct change *change, const char *draft)
{
    const struct rekey_ask asked = {.app_id = change->app,
                                    .cause = "rules",
                                    .detail = change->row.reason,
                                    .rules = draft,
                                    .preview = draft != NULL};
    return rows_rekey_ask(&change->job, change->tx, &asked);
}

static int fill_from_body(struct change *change)
{
    int rc = check(change);
    if (!rc)
        rc = change_store(change);
    return rc ? rc : ask(change, NULL);
}

static int fill_from_version(struct change *change)
{
    int rc = change_go_back(change);
    return rc ? rc : ask(change, NULL);
}

static int fill_preview(struct change *change)
{
    int rc = check(change);
    change->same = true;
    return rc ? rc : ask(change, change->row.rules);
}

int put_rules(void *api, struct request *request, struct reply *reply)
{
    struct change change = {.what = ROWS_DOCUMENT_RULES, .request = request, .reply = reply};

    return change_run(&change, ((struct api *)api)->pg, put_fields, sizeof put_fields / sizeof *put_fields,
                      fill_from_body);
}

int post_rules_back(void *api, struct request *request, struct reply *reply)
{
    struct change change = {.what = ROWS_DOCUMENT_RULES, .request = request, .reply = reply};

    return change_run(&change, ((struct api *)api)->pg, back_fields, sizeof back_fields / sizeof *back_fields,
                      fill_from_version);
}

int post_rules_preview(void *api, struct request *request, struct reply *reply)
{
    struct change change = {.what = ROWS_DOCUMENT_RULES,
                            .request = request,
                            .reply = reply,
                            .row = {.author = NOTHING_TO_SAY, .reason = NOTHING_TO_SAY}};

    return change_run(&change, ((struct api *)api)->pg, preview_fields, sizeof preview_fields / sizeof *preview_fields,
                      fill_preview);
}
