/*
 * apps.h - apps, their settings, and the target of a permalink.
 */
#ifndef MIRE_ROWS_APPS_H
#define MIRE_ROWS_APPS_H

#include "base/arena.h"
#include "base/id.h"
#include "model/view.h"
#include "rows/known.h"

#include <stdbool.h>

struct pg_tx;

struct app_row {
    const char *slug, *name;
    int64_t reports_24h;
    int64_t last_us; /* 0: never */
};

/* Which apps the asker may see. */
struct apps_seen {
    bool all;        /* every app */
    int32_t app;     /* of a key: the app that it opens */
    int64_t account; /* of a person: the apps with a role of the account */
};

/* May the asker see this app? 0 or a fault. */
int rows_app_seen_read(bool *out, struct pg_tx *tx, const struct apps_seen *seen, int32_t app);

/* Apps by slug, with the reports received since since_us. At most 1000. */
int rows_apps_read(struct app_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct apps_seen *seen, int64_t since_us);

#define MIRE_APP_SLUG_MAX 63

enum rows_app_outcome { ROWS_APP_MADE = 0, ROWS_APP_THERE = 1 };

/* Is `text` a slug: at most MIRE_APP_SLUG_MAX lower-case letters, digits and hyphens, the first no hyphen, and no path of
 * the server's own, such as docs? Pure. */
bool rows_app_is_slug(const char *text);

/* Make an app; the caller has checked the slug. ROWS_APP_MADE, ROWS_APP_THERE (the slug is taken), or a fault. */
int rows_app_add(struct pg_tx *tx, const char *slug, const char *name);

/* Signs of life of a new app; 0: none yet. */
struct app_start {
    int64_t contact_us; /* last use of an ingest key, some seconds late */
    int64_t session_us; /* first sight of a version with sessions in the last 30 days */
    int64_t report_us;  /* receipt of the newest event; the members below are of that event */
    int64_t issue;
    bool memory; /* `issue` is a memory issue */
    char install[33];
};
int rows_app_start_read(struct app_start *out, struct pg_tx *tx, int32_t app);

/* Number of an app. 0, READ_NONE or a fault. */
int rows_app_read(int32_t *app_out, struct pg_tx *tx, const char *slug);

/* Goals of rates, in the order of rows_goal_names: sessions with a hang, hang time, out of memory, killed, crashed. */
#define MIRE_GOALS 5
extern const char *const rows_goal_names[MIRE_GOALS];

/* The settings of an app; -1: as the server's setting. */
struct app_settings {
    const char *name;
    int64_t retention_days;
    int64_t quota_reports, quota_bytes; /* stored a day; 0: no limit */
    const char *source_link;            /* address of a line, to be filled in; "": none */
    const char *source_root;            /* taken off the paths of frames; "": nothing */
    const char *ticket_link;            /* address of a form for a ticket, to be filled in; "": none */
    const char *owners;                 /* rules of owners; "": none */
    const char *left_out;               /* installations, 32 hex digits each, with blanks between */
    const char *kept_tags;              /* names of tags that events keep, with blanks between */
    double merge_above;                 /* similarity from which a new issue is merged by itself; 0: none is */
    const char *idle;                   /* keep, archive, delete: issues and versions without reports for long */
    double goals[MIRE_GOALS];           /* of rates; -1: none */
    int64_t enough;                     /* reports of an issue, version and day kept whole; 0: all */
};

/* 0 or a fault. */
int rows_app_settings_read(struct app_settings *out, struct pg_tx *tx, struct arena *arena, int32_t app);
int rows_app_settings_write(struct pg_tx *tx, int32_t app, const struct app_settings *settings);

/* The goals of an app alone. 0 or a fault. */
int rows_goals_read(double goals[MIRE_GOALS], struct pg_tx *tx, int32_t app);

/* The settings that the pipeline reads: installations left out, and tags kept; "" if there is no such app. 0 or a fault. */
int rows_app_taken_read(const char **left_out, const char **kept_tags, struct pg_tx *tx, struct arena *arena,
                        int32_t app);

/* The target of a permalink. */
struct home {
    const char *slug;
    int32_t app;
    int64_t issue;
    bool memory; /* `issue` is a memory issue */
};

/* Follow an emptied issue to the one that has its reports now; other issues stay as they are. 0 or a fault. */
int rows_issue_now_read(int64_t *issue, struct pg_tx *tx);

/* Does the app have the issue? 0 or a fault. */
int rows_issue_is_of(bool *out, struct pg_tx *tx, int32_t app, int64_t issue);

/* 0, READ_NONE or a fault. */
int rows_issue_home_read(struct home *out, struct pg_tx *tx, struct arena *arena, int64_t issue);
int rows_report_home_read(struct home *out, struct pg_tx *tx, struct arena *arena, const struct uuid *report);

/* Reports of an app that wait in the inbox; dead letters, and reports beyond the daily budget, in the view's span. */
struct backlog {
    int64_t waiting, dead_letters, over_quota;
    int64_t aside[MIRE_KNOWN_KINDS]; /* reports counted as "other", by kind (known.h) */
};
int rows_backlog_read(struct backlog *out, struct pg_tx *tx, const struct view *view);

#endif
