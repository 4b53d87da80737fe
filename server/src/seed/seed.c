/* seed.c - see seed.h. */
#include "seed/seed.h"
#include "seed/inside.h"

#include "base/fault.h"
#include "inbox/inbox.h"

#include <math.h>
#include <stdlib.h>

#define AT_ONCE       100
#define REPORTS_A_TRY 0.79 /* of a session that may begin: 0.6 do, with a record, 0.27 hangs and 0.05 of memory */
#define BASELINES     0.04 /* of a session */
#define HOUR_US       3600000000.0
#define DAY_US        (24 * HOUR_US)

struct seed {
    struct pg *pg;
    const struct seed_options *options;
    uint64_t state; /* of seed_roll */
    int64_t begin_us;
    struct seed_counts *counts;
    struct inbox_row rows[AT_ONCE];
    struct text bodies[AT_ONCE];
    size_t waiting; /* rows that are not stored yet */
};

static double chance(struct seed *seed)
{
    return (seed_roll(&seed->state, 1u << 30) + 0.5) / (1u << 30);
}

/* A number with this mean, mostly small. */
static double exponential(struct seed *seed, double mean)
{
    return -mean * log(chance(seed));
}

/* Does the installation belong to this share of all? Another `salt` draws others. */
static bool is_drawn(uint32_t install, uint64_t salt, double share)
{
    uint64_t state = install * UINT64_C(0x9e3779b97f4a7c15) + salt;
    (void)seed_roll(&state, 2);
    return seed_roll(&state, 1u << 30) < share * (1u << 30);
}

static int store(struct seed *seed)
{
    int rc = seed->waiting ? inbox_store_batch(seed->pg, seed->rows, seed->waiting) : 0;
    seed->waiting = 0;
    return rc;
}

/* How far the installation's clock is ahead; most are right. */
static int64_t clock_error_us(uint32_t install)
{
    if (is_drawn(install, 3, 0.02))
        return (int64_t)(5 * DAY_US);
    return is_drawn(install, 4, 0.01) ? (int64_t)(-400 * DAY_US) : 0;
}

/* Time from the event to its receipt: minutes, hours for a device that was offline, days for one in ten. */
static int64_t delay_us(struct seed *seed)
{
    double kind = chance(seed);
    if (kind < 0.7)
        return (int64_t)exponential(seed, HOUR_US / 20);
    return (int64_t)exponential(seed, kind < 0.9 ? 6 * HOUR_US : 2 * DAY_US);
}

/* The next row that waits, for a report of this instant. NULL: it has not arrived yet. */
static struct inbox_row *next_row(struct seed *seed, int64_t at_us, uint32_t install)
{
    int64_t error = clock_error_us(install), received_us = at_us + delay_us(seed);
    struct inbox_row *row = &seed->rows[seed->waiting];

    if (received_us > seed->options->now_us)
        return NULL;
    *row = (struct inbox_row){.app_id = seed->options->app_id,
                              .format = "mire",
                              .encoding = "identity",
                              .received_us = received_us,
                              .clock_known = true,
                              .clock_behind_ms = -error / 1000};
    uuid_make(&row->report_id, at_us + error);
    seed->bodies[seed->waiting].len = 0;
    seed->counts->late += received_us - at_us > HOUR_US;
    seed->counts->wrong_clocks += error != 0;
    return row;
}

/* The body of the next row is written. One row in fifty comes twice. */
static int add_row(struct seed *seed, bool written)
{
    struct inbox_row *row = &seed->rows[seed->waiting];

    if (!written)
        return MIRE_FAULT_MEMORY;
    row->body = seed->bodies[seed->waiting].bytes;
    row->body_len = seed->bodies[seed->waiting].len;
    seed->counts->made++;
    seed->waiting++;
    if (seed->waiting < AT_ONCE && seed_roll(&seed->state, 50) == 0) {
        seed->rows[seed->waiting++] = *row;
        seed->counts->doubled++;
    }
    return seed->waiting == AT_ONCE ? store(seed) : 0;
}

/* The version that an installation has at this time: the newest, once it was updated. */
static int version_at(struct seed *seed, int64_t at_us)
{
    static const double released[SEED_VERSIONS] = {-1, 0.2, 0.45, 0.65, 0.85};
    double span = (double)(seed->options->now_us - seed->begin_us), part = (double)(at_us - seed->begin_us) / span;
    int version = SEED_VERSIONS - 1;

    while (version && part < released[version] + exponential(seed, 0.05))
        version--;
    return version;
}

static int hang_number(struct seed *seed, int version)
{
    if (chance(seed) < (version >= SEED_PLANTED ? 0.5 : 0.02))
        return 0;
    return (int)(1 + seed_roll(&seed->state, 1 + seed_roll(&seed->state, SEED_HANGS - 1)));
}

static int add_hangs(struct seed *seed, struct seed_session *session, int64_t at_us)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < session->hangs; i++) {
        int64_t hang_us = at_us + (int64_t)(chance(seed) * session->duration_ms * 1000);
        struct seed_hang hang = {.number = hang_number(seed, session->version),
                                 .device_us = hang_us + clock_error_us(session->install),
                                 .duration_ms = 500 + (uint32_t)exponential(seed, 1200)};
        session->hang_ms += hang.duration_ms;
        struct inbox_row *row = next_row(seed, hang_us, session->install);
        if (row)
            rc = add_row(seed, seed_write_hang(&seed->bodies[seed->waiting], seed->options->app, &row->report_id,
                                               session, &hang));
    }
    return rc;
}

/* The chance of a session to be killed for its memory: a device with little of it is sooner at its limit. */
static double kill_share(const struct seed_session *session)
{
    double gibibytes = (double)seed_limit_bytes(session->install) / (1 << 30);

    return (session->version >= SEED_PLANTED ? 0.12 : 0.006) / (gibibytes * gibibytes);
}

static int leak_number(struct seed *seed, int version)
{
    if (chance(seed) < (version >= SEED_PLANTED ? 0.8 : 0.05))
        return 0;
    return (int)(1 + seed_roll(&seed->state, 1 + seed_roll(&seed->state, SEED_LEAKS - 1)));
}

/* The report of memory of a session, if it has one: that of its kill, one of a leak that was noticed, or a baseline. */
static bool draw_memory(struct seed_memory *out, struct seed *seed, const struct seed_session *session, bool killed)
{
    double kind = chance(seed), leaks = 1.5 * kill_share(session), part = chance(seed);
    double limit = (double)seed_limit_bytes(session->install);

    *out =
        (struct seed_memory){.trigger = "baseline",
                             .leak = SEED_NO_LEAK,
                             .killed = killed,
                             .run_ms = (uint32_t)(killed ? session->duration_ms : chance(seed) * session->duration_ms)};
    out->device_us = session->device_us + out->run_ms * INT64_C(1000);
    if (!killed && kind >= leaks)
        return kind > 1 - BASELINES;
    out->trigger = killed ? "foom" : kind < leaks / 4 ? "pressure" : "footprint";
    out->leak = leak_number(seed, session->version);
    out->footprint_bytes = (uint64_t)(limit * (killed ? 0.95 + 0.04 * part : 0.5 + 0.4 * part));
    return true;
}

static int add_memory(struct seed *seed, struct seed_session *session, bool killed)
{
    uint64_t of_hangs = seed->state;
    struct seed_memory memory;
    int rc = 0;

    seed->state ^= UINT64_C(0x9e3779b97f4a7c15); /* memory has random numbers of its own */
    session->peak_bytes = 90000000 + seed_roll(&seed->state, 90000000);
    if (draw_memory(&memory, seed, session, killed)) {
        int64_t at_us = memory.device_us - clock_error_us(session->install);
        struct inbox_row *row = next_row(seed, at_us, session->install);
        if (row)
            rc = add_row(seed, seed_write_memory(&seed->bodies[seed->waiting], seed->options->app, &row->report_id,
                                                 session, &memory, &seed->state));
        if (memory.footprint_bytes > session->peak_bytes)
            session->peak_bytes = memory.footprint_bytes;
    }
    seed->state = of_hangs;
    return rc;
}

/* One run of the app, more often by day than by night. */
static int add_session(struct seed *seed, int64_t at_us)
{
    double hour = fmod((double)at_us / HOUR_US, 24);
    struct seed_session session = {.install = seed_roll(&seed->state, SEED_INSTALLS),
                                   .duration_ms = 60000 + (uint32_t)exponential(seed, 1800000)};

    if (chance(seed) > 0.6 + 0.4 * sin((hour - 8) * M_PI / 12))
        return 0;
    session.device_us = at_us + clock_error_us(session.install);
    session.version = version_at(seed, at_us);
    for (int i = session.version >= SEED_PLANTED ? 4 : 3; i; i--)
        session.hangs += seed_roll(&seed->state, 12) == 0;
    double end = chance(seed);
    bool killed = end >= 0.005 && end < 0.005 + kill_share(&session);
    session.verdict = end < 0.005 ? "crash" : killed ? "foom" : "clean_exit";
    int rc = add_hangs(seed, &session, at_us);
    if (!rc)
        rc = add_memory(seed, &session, killed);
    struct inbox_row *row = rc ? NULL : next_row(seed, at_us + session.duration_ms * INT64_C(1000), session.install);
    return rc || !row ? rc
                      : add_row(seed, seed_write_session(&seed->bodies[seed->waiting], seed->options->app,
                                                         &row->report_id, &session));
}

/* In the order of time, so that the oldest report is the first that mired processes. */
static int fill(struct seed *seed)
{
    double span_us = (double)(seed->options->now_us - seed->begin_us), at_us = 0;
    double each_us = span_us * REPORTS_A_TRY / (double)seed->options->reports;
    int rc = 0;

    while (!rc && (at_us += exponential(seed, each_us)) < span_us)
        rc = add_session(seed, seed->begin_us + (int64_t)at_us);
    return rc ? rc : store(seed);
}

int seed_fill(struct seed_counts *counts, struct pg *pg, const struct seed_options *options)
{
    struct seed *seed = calloc(1, sizeof *seed);
    *counts = (struct seed_counts){0};
    if (!seed)
        return MIRE_FAULT_MEMORY;
    seed->pg = pg;
    seed->options = options;
    seed->counts = counts;
    seed->state = options->state;
    seed->begin_us = options->now_us - options->days * (int64_t)DAY_US;
    int rc = fill(seed);
    for (size_t i = 0; i < AT_ONCE; i++)
        text_fini(&seed->bodies[i]);
    free(seed);
    return rc;
}
