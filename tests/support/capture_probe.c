/*
 * capture_probe.c - a preload library with only the capture side of the SDK. It writes every hang as lines of text to
 * the file $MIRE_PROBE, so that a test can check the capture of a real program.
 *
 *     hang PID duration_ms late_ms gate launch exited samples
 *     stack weight_ms state flags image+offset/found image+offset/found ...
 *
 * MIRE_PROBE_THRESHOLD_MS and MIRE_PROBE_PERIOD_MS set the watch.
 */
#include "capture/capture.h"
#include "gate/gate.h"
#include "gate/hooks.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct blackbox *box;

static void print_stack(FILE *file, const struct blackbox *from, uint32_t lane, uint32_t index)
{
    uint64_t weight_ns;
    const struct sample *sample = mire__ring_at(&weight_ns, &from->lanes[lane].ring, index);

    fprintf(file, "stack %" PRIu64 " %c %u", weight_ns / MIRE_NS_PER_MS, sample->state, sample->flags);
    for (uint32_t i = 0; i < sample->depth; i++) {
        int image = mire__blackbox_find_image(from, sample->pc[i]);
        const char *path = image >= 0 ? mire__blackbox_image_path(from, (uint32_t)image) : "?";

        fprintf(file, " %s+%" PRIx64 "/%u", path, image >= 0 ? sample->pc[i] - from->images[image].load : sample->pc[i],
                sample->found[i]);
    }
    fprintf(file, "\n");
}

static void print_hang(void *context, struct blackbox *from, uint32_t lane)
{
    FILE *file = fopen(getenv("MIRE_PROBE"), "ae");
    struct event hang;

    (void)context;
    mire__blackbox_event(&hang, from, lane);
    if (!file)
        return;
    fprintf(file, "hang %u %" PRIu64 " %" PRIu64 " %u %u %u %u\n", (unsigned)getpid(),
            (hang.end_ns - hang.begin_ns) / MIRE_NS_PER_MS, hang.late_ns / MIRE_NS_PER_MS, hang.gate, hang.launch,
            hang.exited, mire__ring_count(&from->lanes[lane].ring));
    for (uint32_t i = 0; i < mire__ring_count(&from->lanes[lane].ring); i++)
        print_stack(file, from, lane, i);
    fprintf(file, "cost samples %" PRIu64 " stopped_max_us %" PRIu64 " unwind_us %" PRIu64 " cpu_us %" PRIu64 "\n",
            hang.cost.samples, hang.cost.stopped_max_ns / 1000, hang.cost.unwind_sum_ns / 1000,
            hang.cost.watch_cpu_ns / 1000);
    fclose(file);
}

static uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);

    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static void start(void *context)
{
    struct blackbox_facts facts = {.pid = mire__pid()};
    struct watch_options options = {.settings = MIRE_SETTINGS_INIT, .on_event = print_hang, .on_child = start};

    options.settings.foreground_ms = options.settings.launch_ms = number_of("MIRE_PROBE_THRESHOLD_MS", 500);
    options.settings.period_ms = number_of("MIRE_PROBE_PERIOD_MS", 20);

    (void)context;
    box = mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (box == MAP_FAILED)
        return;
    mire__blackbox_init(box, &facts);
    options.box = box;
    mire__watch_start(&options);
}

__attribute__((constructor)) static void begin(void)
{
    mire__hooks_bind(RTLD_NEXT);
    if (getenv("MIRE_PROBE"))
        start(NULL);
}

__attribute__((destructor)) static void end(void)
{
    mire__watch_stop();
}
