/* facts.c - see facts.h: the facts that every system tells alike. */
#include "core/facts.h"

#include "platform/platform.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

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
    if (mire__file_read(out->boot_id, sizeof(out->boot_id), "/proc/sys/kernel/random/boot_id") < 0)
        out->boot_id[0] = '\0';
    out->boot_id[strcspn(out->boot_id, "\n")] = '\0';
    mire__facts_of_begin(out);
}

void mire__facts_collect(struct blackbox_facts *out, const mire_options *options, const char *install)
{
    memset(out, 0, sizeof(*out));
    mire__facts_of_app(out, options, install);
    mire__facts_of_system(out);
    collect_machine(out);
    mire__facts_take_told(out, options);
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
