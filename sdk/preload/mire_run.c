/*
 * mire-run - runs a program nobody has changed under the SDK.
 *
 *     mire-run ── fork, LD_PRELOAD ──▶ PROG with libmire-preload.so
 *        │                                │ seals reports, keeps its blackbox
 *        └── courier thread ──▶ store ◀───┘
 *                 └── POST ──▶ server
 *
 * The program's input, output and arguments are its own; mire-run writes to them only about errors, or with --verbose.
 * When the program ends, in any way, mire-run recovers its blackbox and sends the waiting reports. If the program
 * leaves processes behind, a copy of mire-run continues in the background for them.
 */
#include "core/store_location.h"
#include "platform/filter.h"
#include "platform/platform.h"
#include "preload/arguments.h"
#include "preload/child.h"
#include "preload/courier.h"
#include "preload/executed.h"
#include "preload/others.h"
#include "preload/program.h"
#include "preload/remain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PATIENCE_MS 5000u
#define PRELOAD     "libmire-preload.so"

#define STATIC_TLS_INIT 512ul       /* glibc's own default */
#define STATIC_TLS_OURS (3 * 256ul) /* a copy for the program, one for its child, one for the child's child */

/* libmire-preload.so: beside this program, or where an installation puts it. */
static bool find_preload(struct run *run)
{
    static const char *const places[] = {"", "../lib/", "../lib/mire/", "../../lib/mire/", "../libexec/mire/"};
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);

    if (length <= 0)
        return false;
    here[length] = '\0';
    *(strrchr(here, '/') + 1) = '\0';
    for (size_t i = 0; i < MIRE_COUNT(places); i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof(path), "%s%s" PRELOAD, here, places[i]);
        if (realpath(path, run->preload) && access(run->preload, R_OK) == 0)
            return true;
    }
    return false;
}

/*
 * The second C library (platform/own.h) has its thread-local storage in the loader's spare room, which the program's
 * libraries use too. They must have as much room as without it. Each C library takes some 200 bytes.
 */
static bool widen_static_tls(void)
{
    static const char name[] = "glibc.rtld.optional_static_tls";
    const char *before = getenv("GLIBC_TUNABLES");
    const char *own = before ? strstr(before, name) : NULL;
    unsigned long bytes = own && own[sizeof(name) - 1] == '=' ? strtoul(own + sizeof(name), NULL, 0) : STATIC_TLS_INIT;
    char tunables[1024];
    int length = snprintf(tunables, sizeof(tunables), "%s%s%s=%lu", before ? before : "", before && *before ? ":" : "",
                          name, bytes + STATIC_TLS_OURS);

    return length < 0 || (size_t)length >= sizeof(tunables) || setenv("GLIBC_TUNABLES", tunables, 1) == 0;
}

static bool pass_filters(void)
{
    char count[16];

    snprintf(count, sizeof(count), "%u", mire__filter_count());
    return setenv("MIRE_FILTERS", count, 1) == 0;
}

/* AddressSanitizer refuses to run after a preloaded library. In a child with AddressSanitizer nothing of Mire
 * starts. */
static bool let_sanitizers_run(void)
{
    static const char let[] = "verify_asan_link_order=0";
    const char *given = getenv("ASAN_OPTIONS");
    char text[4096];
    int length = snprintf(text, sizeof(text), "%s%s%s", given ? given : "", given && *given ? ":" : "", let);

    return length > 0 && (size_t)length < sizeof(text) ? setenv("ASAN_OPTIONS", text, 1) == 0 : true;
}

/* The environment has the settings of the preload library, and not the key. */
static bool set_environment(const struct run *run, const char *others_name, const char *session)
{
    const mire_options *options = &run->options;
    const char *loaded = getenv("LD_PRELOAD");
    char preload[2 * PATH_MAX], threshold[16], period[16];
    int length = snprintf(preload, sizeof(preload), "%s%s%s", run->is_foreign ? "" : run->preload,
                          loaded && *loaded && !run->is_foreign ? ":" : "", loaded ? loaded : "");

    snprintf(threshold, sizeof(threshold), "%u", options->settings.foreground_ms);
    snprintf(period, sizeof(period), "%u", options->settings.period_ms);
    return length >= 0 && (size_t)length < sizeof(preload) &&
           (length > 0 ? setenv("LD_PRELOAD", preload, 1) : unsetenv("LD_PRELOAD")) == 0 &&
           setenv("MIRE_APP", options->app_name, 1) == 0 && setenv("MIRE_APP_VERSION", options->app_version, 1) == 0 &&
           setenv("MIRE_CHANNEL", options->channel, 1) == 0 && setenv("MIRE_STORE", options->store_dir, 1) == 0 &&
           setenv("MIRE_THRESHOLD_MS", threshold, 1) == 0 && setenv("MIRE_PERIOD_MS", period, 1) == 0 &&
           (run->is_foreign || widen_static_tls()) && pass_filters() &&
           (others_name[0] ? setenv("MIRE_STORE_OTHERS", others_name, 1) : unsetenv("MIRE_STORE_OTHERS")) == 0 &&
           setenv("MIRE_SESSION", session, 1) == 0 && (run->is_foreign || let_sanitizers_run()) &&
           unsetenv("MIRE_KEY") == 0 && unsetenv("MIRE_KEY_FILE") == 0 && unsetenv("MIRE_SERVER") == 0;
}

static void print_problems(const struct run *run, const struct courier *courier)
{
    const struct upload_tally *total = &courier->total;

    if (total->refused > 0)
        fprintf(stderr, "mire-run: the server refused %u reports (status %d); check --server and --key\n",
                total->refused, total->last.status);
    if (courier->unkept.reports > 0)
        fprintf(stderr,
                "mire-run: %" PRIu64
                " reports could not be kept: %s cannot be written%s%s; name a --store with free space that the "
                "program may write\n",
                courier->unkept.reports, mire__store_dir(courier->store), courier->unkept.why ? ": " : "",
                courier->unkept.why ? strerror(courier->unkept.why) : "");
    if (mire__store_was_removed(courier->store))
        fprintf(stderr,
                "mire-run: %s was deleted while the program ran, and with it reports, the session and the reason of "
                "the end; name a --store "
                "that stays\n",
                mire__store_dir(courier->store));
    if (!run->verbose)
        return;
    if (!courier->upload)
        fprintf(stderr, "mire-run: reports stay in %s; give --server to send them\n", mire__store_dir(courier->store));
    else
        fprintf(stderr, "mire-run: %u reports sent, %u waiting in %s\n", total->sent, total->waiting,
                mire__store_dir(courier->store));
    if (total->waiting > 0 && total->last.problem[0])
        fprintf(stderr, "mire-run: cannot send: %s; the next mire-run of this app tries again\n", total->last.problem);
    else if (total->waiting > 0 && total->last.status)
        fprintf(stderr, "mire-run: cannot send: status %d; the next mire-run of this app tries again\n",
                total->last.status);
}

/* All parts of the delivery to the server. */
struct delivery {
    struct courier courier;
    struct other_users others;
    struct executed executed;
    bool serves; /* the courier runs */
    struct run_session session;
};

static void look_around(void *context)
{
    struct delivery *delivery = context;

    others_look(&delivery->others);
    executed_look(&delivery->executed);
}

static void finish_others(void *context)
{
    struct delivery *delivery = context;

    others_finish(&delivery->others, delivery->courier.store, &delivery->courier.total, &delivery->courier.unkept);
}

static void close_delivery(struct delivery *delivery)
{
    mire__upload_close(delivery->courier.upload);
    mire__store_close(delivery->courier.store);
}

/*
 * The store is then named in the options: absolute, and the one that was found to be writable.
 *   session  name of the session to go on with; NULL: a new one
 */
static bool open_delivery(struct delivery *delivery, struct run *run, const char *session)
{
    struct courier *courier = &delivery->courier;
    mire_options *options = &run->options;
    char dir[MIRE_STORE_PATH_MAX];

    memset(delivery, 0, sizeof(*delivery));
    if (mire__store_location_open(&courier->store, dir, options) != MIRE_OK ||
        mire_options_set_store(options, mire__store_dir(courier->store)) != MIRE_OK) {
        run_complain("cannot create or write the store", dir, strerror(errno));
        close_delivery(delivery);
        return false;
    }
    others_init(&delivery->others, options, courier->store);
    executed_init(&delivery->executed, run->path);
    courier->on_look = look_around;
    courier->on_end = finish_others;
    courier->context = delivery;
    if (courier_open(courier, options) != MIRE_OK) {
        run_complain("cannot start libcurl", "", "");
        close_delivery(delivery);
        return false;
    }
    if (session)
        run_session_take_over(&delivery->session, courier->store, session, &courier->facts);
    else
        run_session_begin(&delivery->session, courier->store, &courier->facts);
    courier->keeps = &delivery->session;
    courier->session = delivery->others.session = delivery->session.name;
    return true;
}

static void finish_delivery(struct delivery *delivery, uint64_t patience_ms)
{
    delivery->others.patience_ms = patience_ms;
    courier_finish(&delivery->courier, patience_ms);
}

/* The system allows no second process: the only one is then the program's. */
static int run_in_place(const struct run *run)
{
    int failed;

    run_complain("no further process may be started;", run->path, "runs without being watched");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    failed = child_replace(run->path, run->argv, run->environment);
    run_complain("cannot execute", run->path, strerror(failed));
    return PROGRAM_NOT_EXECUTABLE;
}

/* The program comes first: where threads and processes are too few for both, the courier makes way until it has ended.
 */
static int start_program(pid_t *pid_out, const struct run *run, struct delivery *delivery)
{
    bool serves = courier_start(&delivery->courier) == MIRE_OK;
    int failed = child_start(pid_out, run->path, run->argv);

    if (failed == EAGAIN && serves) {
        finish_delivery(delivery, 0);
        run_session_again(&delivery->session);
        serves = false;
        failed = child_start(pid_out, run->path, run->argv);
    }
    delivery->serves = serves;
    return failed;
}

static int run_program(const struct run *run, struct delivery *delivery, struct remain *remain)
{
    struct courier *courier = &delivery->courier;
    struct child_end end = {0};
    uint64_t start_ticks = 0;
    pid_t pid;
    int code, failed = start_program(&pid, run, delivery);

    if (failed == EAGAIN)
        return run_in_place(run);
    if (!failed) {
        start_ticks = mire__process_start_ticks((uint32_t)pid);
        run_session_started(&delivery->session, (uint32_t)pid, start_ticks);
        atomic_store(&delivery->executed.pid, (uint32_t)pid);
    }
    code = failed ? PROGRAM_NOT_EXECUTABLE : child_wait(&end, pid);
    atomic_store(&delivery->executed.pid, 0);
    courier->ended_ns = mire__now_ns();
    if (!failed)
        courier->ended = (struct report_ended){.pid = (uint32_t)pid,
                                               .start_ticks = start_ticks,
                                               .killed = end.killed,
                                               .status = (uint32_t)end.status,
                                               .peak_bytes = end.peak_bytes,
                                               .end_ns = courier->ended_ns};
    if (failed)
        run_complain("cannot execute", run->path, strerror(failed));
    remain_find(remain, courier->store, delivery->session.name, run->path);
    courier->stays = remain_first(remain);
    courier->goes_on = courier->stays && end.killed && run->options.server_url[0];
    if (delivery->serves || courier_start(courier) == MIRE_OK)
        finish_delivery(delivery, failed ? 0 : PATIENCE_MS);
    else
        run_complain("cannot start a thread", "", "");
    print_problems(run, courier);
    return code;
}

static int run_with_store(struct run *run, struct remain *remain)
{
    static struct delivery delivery; /* the stack may be small */
    int code = EXIT_OURS;

    if (!open_delivery(&delivery, run, NULL))
        return EXIT_OURS;
    if (set_environment(run, delivery.others.name, delivery.session.name))
        code = run_program(run, &delivery, remain);
    else
        run_complain("cannot set the environment", "", "");
    close_delivery(&delivery);
    return code;
}

/* In the background: remaining processes still hang, and are killed. */
static void serve(struct run *run, struct remain *remain)
{
    static struct delivery delivery;

    child_release();
    if (!open_delivery(&delivery, run, remain->points.session))
        return;
    if (courier_start(&delivery.courier) == MIRE_OK) {
        remain_wait(remain, delivery.courier.store);
        delivery.courier.ended_ns = mire__now_ns();
        finish_delivery(&delivery, PATIENCE_MS);
    }
    close_delivery(&delivery);
}

/* The texts stay as they are when the environment is changed; the list of them does not. NULL: there is no memory. */
static char **copy_environment(void)
{
    size_t count = 0;
    char **copy;

    while (environ[count])
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    if (copy)
        memcpy(copy, environ, count * sizeof(*copy));
    return copy;
}

int main(int argc, char **argv)
{
    static struct run run;
    static struct remain remain;
    int code = run_read(&run, argc, argv);

    if (code >= 0)
        return code;
    run.environment = copy_environment();
    if (!find_preload(&run)) {
        run_complain("cannot find", PRELOAD, "it belongs beside mire-run or in ../lib");
        return EXIT_OURS;
    }
    child_prepare();
    remain_prepare();
    code = run_with_store(&run, &remain);
    if (run.options.server_url[0] && remain.count > 0 && remain_in_background())
        serve(&run, &remain);
    return code;
}
