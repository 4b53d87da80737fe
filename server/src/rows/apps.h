/*
 * apps.h - what apps there are, and where a permalink leads.
 */
#ifndef MIRE_ROWS_APPS_H
#define MIRE_ROWS_APPS_H

#include "base/arena.h"
#include "base/id.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

struct app_row {
    const char *slug, *name;
    int64_t reports_24h;
    int64_t last_us; /* 0: never */
};

/* Who asks, and so sees which apps. */
struct apps_seen {
    bool all;        /* every one */
    int32_t app;     /* of a key: its own */
    int64_t account; /* of a person: those with a role of the person */
};

/* Is that one among them? 0 or a fault. */
int rows_app_seen_read(bool *out, struct pg_tx *tx, const struct apps_seen *seen, int32_t app);

/* Apps by slug, with the reports received since since_us. At most 1000. */
int rows_apps_read(struct app_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                   const struct apps_seen *seen, int64_t since_us);

#define MIRE_APP_SLUG_MAX 63

enum rows_app_outcome { ROWS_APP_MADE = 0, ROWS_APP_THERE = 1 };

/* Can a slug be so: lower-case letters, digits and hyphens, no hyphen in front, at most MIRE_APP_SLUG_MAX. Pure. */
bool rows_app_is_slug(const char *text);

/* Make an app of that slug, which the caller has checked. ROWS_APP_MADE, ROWS_APP_THERE (the slug is taken), or a fault. */
int rows_app_add(struct pg_tx *tx, const char *slug, const char *name);

/* The first arrivals of an app; 0: nothing yet. */
struct app_start {
    int64_t contact_us; /* an ingest key was last used then, some seconds late */
    int64_t session_us; /* a version that has sessions was first seen then; sessions of the last 30 days */
    int64_t report_us;  /* the newest event was received then; the rest is of this event */
    int64_t issue;
    bool memory; /* it is an issue of memory */
    char install[33];
};
int rows_app_start_read(struct app_start *out, struct pg_tx *tx, int32_t app);

/* Number of an app. 0, READ_NONE or a fault. */
int rows_app_read(int32_t *app_out, struct pg_tx *tx, const char *slug);

/* The settings of an app; -1: the server's value. */
struct app_settings {
    const char *name;
    int64_t retention_days;
};

/* 0 or a fault. */
int rows_app_settings_read(struct app_settings *out, struct pg_tx *tx, struct arena *arena, int32_t app);
int rows_app_settings_write(struct pg_tx *tx, int32_t app, const struct app_settings *settings);

/* Where a permalink leads. */
struct home {
    const char *slug;
    int32_t app;
    int64_t issue;
    bool memory; /* it is an issue of memory */
};

/* The issue that holds the reports of one that was emptied, however often they moved; itself if it was not. 0 or a
 * fault.
 */
int rows_issue_now_read(int64_t *issue, struct pg_tx *tx);

/* 0, READ_NONE or a fault. */
int rows_issue_home_read(struct home *out, struct pg_tx *tx, struct arena *arena, int64_t issue);
int rows_report_home_read(struct home *out, struct pg_tx *tx, struct arena *arena, const struct uuid *report);

/* Reports of an app not worked on yet, and given up in the view's range. */
int rows_backlog_read(int64_t *waiting_out, int64_t *dead_letters_out, struct pg_tx *tx, const struct view *view);

#endif
