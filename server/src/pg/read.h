/*
 * read.h - what the API asks the database. Nothing here writes.
 *
 * Every call runs inside a transaction the caller began, so that several see one snapshot; text lies in the arena.
 * Returns 0 or a fault (base/fault.h), and READ_NONE where something named does not exist. Arrays are in the arena too.
 * Counters are summed over all slots, so the same statements serve one machine and many.
 */
#ifndef MIRE_PG_READ_H
#define MIRE_PG_READ_H

#include "base/arena.h"
#include "base/id.h"
#include "model/devices.h"
#include "model/population.h"
#include "model/view.h"

#include <stdbool.h>

struct pg_tx;

enum { READ_NONE = 1 };

#define MIRE_TREND_PARTS  24
#define MIRE_SERIES_MAX   12    /* versions drawn as lines */
#define MIRE_VERSIONS_MAX 100   /* versions listed */
#define MIRE_FACET_MAX    200   /* values of a facet */
#define MIRE_VALUES_MAX   10    /* values of a distribution */
#define MIRE_TOP_MAX      10    /* issues of an overview */
#define MIRE_FEATURES_MAX 100   /* level-2 issues shown of one group */
#define MIRE_WAITING_MAX  10000 /* waiting reports are counted up to here */

/* Apps (read_apps.c) */

struct app_row {
    const char *slug, *name;
    int64_t reports_24h;
    int64_t last_us; /* 0: never */
};

/* All apps by slug, with the reports received since since_us. At most 1000. */
int read_apps(struct app_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int64_t since_us);

/* Number of an app. 0, READ_NONE or a fault. */
int read_app(int32_t *app_out, struct pg_tx *tx, const char *slug);

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
int read_issue_now(int64_t *issue, struct pg_tx *tx);

/* 0, READ_NONE or a fault. */
int read_issue_home(struct home *out, struct pg_tx *tx, struct arena *arena, int64_t issue);
int read_report_home(struct home *out, struct pg_tx *tx, struct arena *arena, const struct uuid *report);

/* Reports of an app not worked on yet, and given up in the view's range. */
int read_backlog(int64_t *waiting_out, int64_t *dead_letters_out, struct pg_tx *tx, const struct view *view);

/* Totals (read_totals.c): views are honoured in app, span, version and kind */

struct facet_value {
    const char *key;
    int64_t reports;
    double events;
};

struct version_row {
    const char *version;
    int64_t first_us;
    struct totals totals; /* devices: not counted */
};

struct point {
    const char *version;
    int64_t at_s;
    double events, waited_ms;
};

struct turn {
    int64_t from_ms;
    double turns;
};

/* Turns of watched loops by length, shortest first; honours app, span and version. At most MIRE_TURN_BUCKETS. */
int read_turns(struct turn **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view);

enum read_facet { READ_BY_VERSION, READ_BY_KIND, READ_BY_STATE };

/* Most reports first. */
int read_facet_values(struct facet_value **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                      const struct view *view, enum read_facet facet);

/* Everything an app's counters say about a view. */
struct sums {
    struct totals totals;      /* devices: not counted */
    int64_t first_hour_us;     /* of the oldest counter; 0: none */
    struct facet_value *kinds; /* most reports first */
    size_t kind_count;
    struct version_row *versions; /* newest first: by first report, then by the natural order */
    size_t version_count;
    struct point *points; /* buckets of bucket_s, the versions with most events first, each version's in order */
    size_t point_count;
};

int read_sums(struct sums *out, struct pg_tx *tx, struct arena *arena, const struct view *view, int bucket_s);

/* One issue's points, as in struct sums. */
int read_series(struct point **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                int64_t issue, int bucket_s);

/* Sessions (read_rates.c): honours app, version, and the days that the span touches */

struct session_sums { /* as in session_day and session_end_day */
    int64_t records;
    double sessions, sessions_sq, time_ms, sdk_cpu_us;
    double watched, watched_sq, watched_ms, lagging, hangs, hang_ms, hang_hang_sq, hang_time_sq, time_time_sq;
    double ends, ends_sq, foom, watchdog, crash;
};

struct session_point {
    const char *version; /* "": all of them together, in the first row */
    bool has_day;        /* false: all days together, in a version's first row */
    int32_t day;
    struct session_sums sums;
};

/* All, then version by version and day by day, of the MIRE_SERIES_MAX versions with most sessions. */
int read_sessions(struct session_point **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                  const struct view *view, const struct filter *channel);

/* Losses that devices told of (read_rates.c): honours app, version, and the days that the span touches. Most first. */
struct loss_sum {
    const char *reason;
    int64_t lost;
};
int read_losses(struct loss_sum **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view);

/* Devices (read_devices.c): honours the whole view */

/* Reports; with more of them, devices are counted from a share of the identifiers. */
#define MIRE_DEVICES_EXACT 1000000

enum read_group { READ_BY_CALLER1, READ_BY_CATEGORY };

/* What the reports that are still kept say: they may be dropped before the counters are. */
struct kept {
    struct devices devices;
    int64_t oldest_us, newest_us; /* receipt; 0: there is none */
};

/*
 * Count the devices of every issue, group and all.
 *
 *   issues   only these; issue_count 0: all that match the view
 *   reports  how many the counters tell of, which decides between exact and scaled
 */
int read_devices(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view, enum read_group by,
                 const int64_t *issues, size_t issue_count, int64_t reports);

/* Issues (read_issues.c) */

struct issue_summary {
    int64_t issue;
    const char *caller1, *caller1_image, *caller1_location, *caller2, *caller2_image, *category, *reason, *state;
    const char *subject;  /* the category of memory to blame; "" of an issue that is none of memory */
    struct totals totals; /* devices: not counted */
    int64_t most_bytes;   /* that the subject held in one report */
    double trend[MIRE_TREND_PARTS];
    int64_t first_us, last_us;
    int64_t first_hour_us;                    /* of its oldest counter in the span; 0: none */
    int64_t members;                          /* issues that are shown as it, with itself */
    int64_t split_from;                       /* 0: it was opened by a report */
    const char *first_version, *last_version; /* by the natural order: of its first report and of all in the span */
};

/* The issues of these numbers that are in the view's app, in the order given. Honours span and version. */
int read_features(struct issue_summary **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                  const struct view *view, const int64_t *issues, size_t issue_count);

enum read_top {
    READ_TOP_WAITED, /* for which people waited longest; none of memory */
    READ_TOP_MEMORY, /* of memory, that happened most often */
};

/* Numbers of the issues at the top, at most MIRE_TOP_MAX. */
int read_top(int64_t **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
             enum read_top which);

/* Events of these issues together in each part of the span. Honours span and version. */
int read_trend(double trend[MIRE_TREND_PARTS], struct pg_tx *tx, struct arena *arena, const struct view *view,
               const int64_t *issues, size_t count);

struct group {
    const char *key, *title, *image;
    struct totals totals; /* devices: not counted */
    int64_t most_bytes;
    int64_t last_us;
    const char *rank; /* what it is sorted by, as text: for a cursor */
    int64_t *issues;  /* all of the group's, in order */
    size_t issue_count;
};

struct group_page {
    int64_t groups_total, features_total;
    struct totals totals;  /* devices: not counted */
    int64_t newest_us;     /* 0: none */
    int64_t first_hour_us; /* of the oldest counter; 0: none */
    struct group *groups;
    size_t count;
};

enum read_sort {
    READ_SORT_IMPACT,
    READ_SORT_EVENTS,
    READ_SORT_DEVICES,
    READ_SORT_LONGEST,
    READ_SORT_LAST,
    READ_SORT_TITLE,
    READ_SORT_BYTES
};

struct group_order {
    enum read_group by;
    enum read_sort sort;
    const struct devices *devices; /* for READ_SORT_DEVICES; else NULL */
    bool falling;
    const char *after_rank; /* NULL: from the beginning */
    const char *after_key;
    int limit;
};

/* Reports the counters tell of. Honours span and version. */
int read_report_count(int64_t *out, struct pg_tx *tx, const struct view *view);

/* A page of groups that match the whole view, and the totals of all of them. */
int read_groups(struct group_page *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                const struct group_order *order);

/*
 * Where an issue is shown, and whether it has rows in issue_shown: then questions about it need view.many. 0 or a
 * fault. (read_issue.c)
 */
int read_shown(int64_t *shown_out, bool *many_out, struct pg_tx *tx, int32_t app, int64_t issue);

/* One issue (read_issue.c): honours span and version */

struct issue_facts {
    int64_t reports, killed, p50_ms, p95_ms, frames, unresolved;
    int64_t launch, foreground, background; /* reports; where the app was in neither, the device did not tell */
    int64_t many_threads;                   /* reports of a process with more than 64 */
    int64_t suppressed;                     /* events that these reports stand for besides */
    int64_t oldest_us, newest_us;           /* 0: none */
};

struct bin {
    int64_t from_ms, to_ms, reports;
};

struct value_row {
    const char *name, *key;                   /* name: version, os_version, arch, model, process, holder */
    int64_t here, here_total, all, all_total; /* all: of the app; 0 of holder, which is asked of the issue alone */
};

int read_issue_facts(struct issue_facts *out, struct pg_tx *tx, const struct view *view, int64_t issue);
int read_durations(struct bin **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                   int64_t issue);

/* By name, then most reports of the issue first; at most MIRE_VALUES_MAX of each name. */
int read_values(struct value_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                int64_t issue);

/* What an issue is made of (read_parts.c): reports and events honour span and version */

struct tree_part {             /* level 3 */
    int64_t tree_id, issue;    /* of the reports' key */
    int32_t tree, caller1;     /* frame of the stack; -1: none */
    int64_t first_us, last_us; /* last_us 0: none in the range */
    const char *frames;        /* model/frames.h */
    int64_t reports;
    double events;
};

/* The trees that are kept of it, most reports first; at most 100. */
int read_trees(struct tree_part **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
               int64_t issue);

struct member_part { /* an issue shown as it */
    int64_t issue;
    const char *caller1, *caller2, *category, *reason, *state;
    int64_t first_us, reports;
    double events;
    bool memory;
};

/* Itself first, then those with most reports; at most MIRE_FACET_MAX. */
int read_members(struct member_part **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                 const struct view *view, int64_t issue);

struct act_part { /* one row of issue_alias */
    int64_t act, issue, into;
    int32_t tree;
    const char *kind, *author, *reason, *undone_by, *undone_why;
    int64_t at_us, undone_us; /* undone_us 0: it holds */
};

/* What was done to it and to those shown as it, newest first; at most MIRE_FACET_MAX. */
int read_acts(struct act_part **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t issue);

struct shown_row {
    int64_t issue;
    int32_t tree;
    int64_t shown;
};

/* All of the app's issue_shown, by issue and tree. */
int read_shown_all(struct shown_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* Memory (read_memory.c): honours versions; spans are widened to UTC days */

/* What the processes of an issue held, and what healthy ones of the versions it was seen on hold. */
int read_issue_memory(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      int64_t issue);
int read_issue_healthy(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                       int64_t issue);

/* What healthy processes of a device class hold; NULL: of all classes. */
int read_healthy(struct population *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                 const char *device_class);

struct healthy_row {
    const char *version, *device_class;
    int64_t last_us;
};

/* Versions and device classes that healthy processes told of, newest first; at most MIRE_FACET_MAX. Honours the app.
 */
int read_healthy_versions(struct healthy_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                          const struct view *view);

/* Reports (read_reports.c): honour span and version */

struct report_row {
    struct uuid id;
    int64_t received_us, begun_us, duration_ms;
    int64_t footprint_bytes, subject_bytes; /* -1: not told, or no memory report */
    bool open;
    const char *version, *os_version, *arch, *model, *process, *category, *reason;
    char install[33];
};

/* Newest first, after the report received at after_us with that id (NULL: from the beginning). */
int read_reports(struct report_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, const struct view *view,
                 int64_t issue, int64_t after_us, const struct uuid *after, int limit);

enum read_pick { READ_LATEST, READ_FIRST, READ_WORST, READ_BY_ID };

struct report_position {
    struct report_row row;
    int64_t position, total;
    bool has_newer, has_older;
    struct uuid newer, older;
};

/* One report of an issue and where it stands. 0, READ_NONE or a fault. */
int read_report(struct report_position *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                int64_t issue, enum read_pick pick, const struct uuid *id);

/*
 * Hand the stacks of an issue's reports to `take`, newest first, at most `limit`; only those of `one` if it is given.
 * A report whose stacks are gone has no bytes.
 * `take` returns 0 to go on, or what read_stacks shall return: above zero to stop, below for a fault.
 */
typedef int (*read_take)(void *context, double weight, const void *bytes, size_t len);
int read_stacks(struct pg_tx *tx, const struct view *view, int64_t issue, const struct uuid *one, int limit,
                read_take take, void *context);

/* A module that reports of an app have frames in, and that there is no debug file for. Texts lie in the arena. */
struct missing_row {
    char *build_id; /* hexadecimal */
    const char *name, *arch;
    int64_t reports;            /* that miss it */
    int64_t reports_with_names; /* of them, those that have its functions' names, but neither lines nor inlined calls */
    int64_t first_seen_us;
    int64_t looks, look_at_us; /* how often it was looked for, and when it is again; 0: it is not looked for */
    const char *answer;        /* what came of it the last time */
    const char *version;       /* of a mapping that is known by the app's version: that, and the build; else "" */
    const char *build;
    const char *defect; /* what is wrong with what is there; "" */
};

/* Those that most reports know nothing of come first. */
int read_missing(struct missing_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                 int64_t most);

struct symbol_row {
    char *build_id; /* hexadecimal */
    const char *kind, *arch, *name, *source;
    const char *defect; /* what of it is damaged; "" */
    const char *depth;  /* as in symbol_file */
    int64_t size_bytes, came_us;
};

struct symbol_sum {
    int64_t files, bytes;
};

/* Debug files that are there, newest first, and how many there are in all. */
int read_symbol_files(struct symbol_row **out, size_t *count, struct symbol_sum *sum, struct pg_tx *tx,
                      struct arena *arena, int64_t most);

#endif
