/* facts.c - see facts.h: the facts that every system tells alike. */
#include "core/facts.h"

#include "platform/platform.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The app knows better. */
static void take_told(char *fact, const char *told)
{
    if (told[0])
        mire__text_copy(fact, MIRE_FACT_BYTES, told);
}

static void collect_machine(struct blackbox_facts *out)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE), cpus = sysconf(_SC_NPROCESSORS_ONLN);

    out->cpu_count = cpus > 0 ? (uint32_t)cpus : 0;
    out->memory_bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

static void collect_process(struct blackbox_facts *out)
{
    ssize_t length = readlink("/proc/self/exe", out->exe_path, sizeof(out->exe_path) - 1);

    out->exe_path[length > 0 ? length : 0] = '\0';
    out->pid = mire__pid();
    if (mire__file_read(out->boot_id, sizeof(out->boot_id), "/proc/sys/kernel/random/boot_id") < 0)
        out->boot_id[0] = '\0';
    out->boot_id[strcspn(out->boot_id, "\n")] = '\0';
    out->start_ticks = mire__process_start_ticks(out->pid);
    out->start_mono_ns = mire__now_ns();
    out->start_wall_ms = mire__wall_now_ms();
    out->start_boot_ns = mire__boot_now_ns();
}

void mire__facts_collect(struct blackbox_facts *out, const mire_options *options, const char *install)
{
    memset(out, 0, sizeof(*out));
    mire__text_copy(out->app_name, sizeof(out->app_name), options->app_name);
    mire__text_copy(out->app_version, sizeof(out->app_version), options->app_version);
    mire__text_copy(out->app_channel, sizeof(out->app_channel), options->channel);
    mire__text_copy(out->install, sizeof(out->install), install);
    mire__text_copy(out->app_build, sizeof(out->app_build), options->app_build);
    mire__facts_of_system(out);
    collect_machine(out);
    take_told(out->model, options->model);
    take_told(out->device_class, options->device_class);
    take_told(out->os, options->os);
    take_told(out->os_version, options->os_version);
    collect_process(out);
}

void mire__facts_of_run(struct evidence_start *out, const struct blackbox_facts *facts)
{
    struct utsname names;

    memset(out, 0, sizeof(*out));
    out->pid = facts->pid;
    out->start_ticks = facts->start_ticks;
    out->wall_ms = facts->start_wall_ms;
    out->boot_ns = facts->start_boot_ns;
    mire__text_copy(out->boot_id, sizeof(out->boot_id), facts->boot_id);
    mire__text_copy(out->app_version, sizeof(out->app_version), facts->app_version);
    mire__text_copy(out->app_build, sizeof(out->app_build), facts->app_build);
    mire__text_copy(out->os_version, sizeof(out->os_version), facts->os_version);
    mire__text_copy(out->process_name, sizeof(out->process_name), facts->process_name);
    if (uname(&names) == 0)
        snprintf(out->os_build, sizeof(out->os_build), "%s %s", names.release, names.version);
}
