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
    mire__facts_take_options(out, options);
    collect_process(out);
}

void mire__facts_of_kernel(char *out, size_t cap_bytes)
{
    struct utsname names;

    if (uname(&names) == 0)
        snprintf(out, cap_bytes, "%s %s", names.release, names.version);
}
