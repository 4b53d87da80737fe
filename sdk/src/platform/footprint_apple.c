/* footprint_apple.c - see footprint.h. Signal-safe. */
#include "platform/footprint.h"

#include "platform/platform.h"

#include <errno.h>
#include <mach/mach.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

static bool read_task(task_vm_info_data_t *out)
{
    mach_msg_type_number_t count = TASK_VM_INFO_COUNT;

    memset(out, 0, sizeof(*out));
    return task_info(mach_task_self(), TASK_VM_INFO, (task_info_t)out, &count) == KERN_SUCCESS;
}

/* The kernel ends an app by this very number. */
void mire__footprint(struct footprint *out)
{
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()};
    task_vm_info_data_t task;
    struct process_counters counters;
    struct kinfo_proc info;
    size_t size = sizeof(info);

    memset(out, 0, sizeof(*out));
    if (!read_task(&task))
        return;
    mire__process_counters(&counters);
    out->bytes = task.phys_footprint;
    out->file_bytes = task.external;
    out->peak_rss_bytes = task.resident_size_peak;
    out->thread_count = counters.thread_count;
    if (sysctl(name, MIRE_COUNT(name), &info, &size, NULL, 0) == 0 && size > 0)
        out->traced = (info.kp_proc.p_flag & P_TRACED) != 0;
}

uint32_t mire__fd_count(void)
{
    return 0;
}

void mire__cgroup_find(struct cgroup *out)
{
    memset(out, 0, sizeof(*out));
}

/* Systems with a limit for each app tell what is left; the rest have the machine's memory. */
void mire__memory_room(struct memory_room *out, const struct cgroup *cgroup)
{
    task_vm_info_data_t task;
    uint64_t machine = 0;
    size_t size = sizeof(machine);

    (void)cgroup;
    memset(out, 0, sizeof(*out));
    sysctlbyname("hw.memsize", &machine, &size, NULL, 0);
    if (!read_task(&task))
        return;
    out->limit = task.limit_bytes_remaining ? MIRE_LIMIT_CGROUP : MIRE_LIMIT_MACHINE;
    out->limit_bytes = task.limit_bytes_remaining ? task.phys_footprint + task.limit_bytes_remaining : machine;
    out->used_bytes = task.phys_footprint;
    out->available_bytes = task.limit_bytes_remaining;
}

uint64_t mire__disk_free(const char *directory)
{
    (void)directory;
    return 0;
}

void mire__oom_counts(struct oom_counts *out, const struct cgroup *cgroup)
{
    (void)cgroup;
    memset(out, 0, sizeof(*out));
}

/* The kernel's levels of pressure: 1 normal, 2 warning, 4 critical. */
uint32_t mire__memory_pressure_ppm(const struct cgroup *cgroup)
{
    int level = 0;
    size_t size = sizeof(level);

    (void)cgroup;
    if (sysctlbyname("kern.memorystatus_vm_pressure_level", &level, &size, NULL, 0) != 0)
        return 0;
    if (level >= 4)
        return 500000;
    return level >= 2 ? 100000 : 0;
}
