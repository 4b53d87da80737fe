/* proc_apple.c - the process, its threads and its mappings, by the kernel's own calls; see platform.h. Signal-safe. */
#include "platform/platform.h"

#include <TargetConditionals.h>
#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <mach/vm_map.h>
#include <mach/vm_statistics.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>
#if TARGET_OS_OSX
#include <libproc.h>
#endif

#define TICKS_PER_S 100u /* sysconf(_SC_CLK_TCK) */
#define START_SLACK 100u /* the clock may have been set since: a second */

long mire__file_read(char *out, size_t cap_bytes, const char *path)
{
    int saved = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = -1;

    while (fd >= 0 && length + 1 < cap_bytes && (got = read(fd, out + length, cap_bytes - 1 - length)) > 0)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    errno = saved;
    if (fd < 0 || got < 0)
        return -1;
    out[length] = '\0';
    return (long)length;
}

/* ---- threads ---- */

static bool read_basic(thread_basic_info_data_t *out, uint32_t tid)
{
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;

    return thread_info(tid, THREAD_BASIC_INFO, (thread_info_t)out, &count) == KERN_SUCCESS;
}

static char letter_of(integer_t run_state)
{
    switch (run_state) {
    case TH_STATE_RUNNING:
        return 'R';
    case TH_STATE_STOPPED:
        return 'T';
    case TH_STATE_WAITING:
        return 'S';
    case TH_STATE_UNINTERRUPTIBLE:
        return 'D';
    default:
        return '?';
    }
}

/* Its registers are not told before it is suspended. */
void mire__thread_state(struct thread_state *out, uint32_t tid)
{
    thread_basic_info_data_t info;

    *out = (struct thread_state){.letter = '?', .syscall = -1};
    if (!read_basic(&info, tid))
        return;
    out->letter = letter_of(info.run_state);
    out->known = true;
}

bool mire__thread_has_terminal(uint32_t tid, uint64_t fd)
{
    (void)tid;
    (void)fd;
    return false;
}

void mire__proc_keep(uint32_t tid)
{
    (void)tid;
}

bool mire__thread_states_hold(void)
{
    return true;
}

/* Each name of a thread in the list is a right that has to be given back. */
bool mire__threads_visit(bool (*visit)(void *context, uint32_t tid), void *context)
{
    thread_act_array_t list;
    mach_msg_type_number_t count;
    bool goes_on = true;

    if (task_threads(mach_task_self(), &list, &count) != KERN_SUCCESS)
        return false;
    for (mach_msg_type_number_t i = 0; i < count; i++) {
        goes_on = goes_on && visit(context, list[i]);
        mach_port_deallocate(mach_task_self(), list[i]);
    }
    vm_deallocate(mach_task_self(), (vm_address_t)list, count * sizeof(list[0]));
    return true;
}

void mire__thread_name(char out[MIRE_THREAD_NAME_BYTES], uint32_t tid)
{
    thread_extended_info_data_t info;
    mach_msg_type_number_t count = THREAD_EXTENDED_INFO_COUNT;

    out[0] = '\0';
    if (thread_info(tid, THREAD_EXTENDED_INFO, (thread_info_t)&info, &count) == KERN_SUCCESS)
        mire__text_copy(out, MIRE_THREAD_NAME_BYTES, info.pth_name);
}

bool mire__thread_is_gone(uint32_t tid)
{
    thread_basic_info_data_t info;

    return !read_basic(&info, tid) || info.run_state == TH_STATE_HALTED;
}

static uint64_t ns_of(time_value_t time)
{
    return (uint64_t)time.seconds * MIRE_NS_PER_S + (uint64_t)time.microseconds * 1000u;
}

void mire__thread_counters(struct thread_counters *out, uint32_t tid)
{
    thread_basic_info_data_t info;

    memset(out, 0, sizeof(*out));
    if (read_basic(&info, tid))
        out->cpu_ns = ns_of(info.user_time) + ns_of(info.system_time);
    mire__thread_name(out->name, tid);
}

/* The kernel does not tell how long a thread has waited for a processor. */
uint64_t mire__thread_waited_ns(uint32_t tid)
{
    (void)tid;
    return 0;
}

uint64_t mire__thread_awake_ns(uint32_t tid)
{
    return mire__thread_cpu_ns(tid);
}

/* ---- the process ---- */

void mire__io_bytes(struct io_bytes *out, uint32_t tid)
{
    *out = (struct io_bytes){0, 0};
#if TARGET_OS_OSX
    struct rusage_info_v4 usage;

    if (tid == 0 && proc_pid_rusage(getpid(), RUSAGE_INFO_V4, (rusage_info_t *)&usage) == 0)
        *out = (struct io_bytes){usage.ri_diskio_bytesread, usage.ri_diskio_byteswritten};
#else
    (void)tid;
#endif
}

static bool count_thread(void *context, uint32_t tid)
{
    (void)tid;
    ++*(uint32_t *)context;
    return true;
}

static uint64_t ms_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000u + (uint64_t)time.tv_usec / 1000u;
}

void mire__process_counters(struct process_counters *out)
{
    mach_task_basic_info_data_t task;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    struct rusage usage;

    memset(out, 0, sizeof(*out));
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&task, &count) == KERN_SUCCESS)
        out->rss_bytes = task.resident_size;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        out->cpu_user_ms = ms_of(usage.ru_utime);
        out->cpu_system_ms = ms_of(usage.ru_stime);
    }
    mire__threads_visit(count_thread, &out->thread_count);
}

/* The wall clock at the process's begin, less that at the machine's. */
uint64_t mire__process_start_ticks(uint32_t pid)
{
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)pid};
    struct kinfo_proc info;
    size_t size = sizeof(info);
    int saved = errno;
    uint64_t started_ms = 0, booted_ms = mire__wall_now_ms() - mire__boot_now_ns() / MIRE_NS_PER_MS;

    if (sysctl(name, MIRE_COUNT(name), &info, &size, NULL, 0) == 0 && size > 0)
        started_ms = ms_of(info.kp_proc.p_starttime);
    errno = saved;
    return started_ms > booted_ms ? (started_ms - booted_ms) / (1000u / TICKS_PER_S) : 0;
}

bool mire__process_runs(uint32_t pid, uint64_t start_ticks)
{
    uint64_t ticks = mire__process_start_ticks(pid);
    uint64_t apart = ticks > start_ticks ? ticks - start_ticks : start_ticks - ticks;

    return ticks != 0 && apart <= START_SLACK;
}

/* ---- mappings ---- */

/* A region's use, by the tag that its maker gave it; the names are those of heapread/categories.c. */
static const char *name_of(unsigned tag)
{
    static const struct {
        uint8_t first, last;
        const char *name;
    } names[] = {{VM_MEMORY_MALLOC, VM_MEMORY_MALLOC_LARGE_REUSED, "[heap]"},
                 {VM_MEMORY_MALLOC_NANO, VM_MEMORY_MALLOC_PROB_GUARD, "[heap]"},
                 {VM_MEMORY_MACH_MSG, VM_MEMORY_MACH_MSG, "VM: Mach message"},
                 {VM_MEMORY_IOKIT, VM_MEMORY_IOKIT, "VM: IOKit"},
                 {VM_MEMORY_STACK, VM_MEMORY_STACK, "[stack]"},
                 {VM_MEMORY_SHARED_PMAP, VM_MEMORY_SHARED_PMAP, "VM: shared libraries"},
                 {VM_MEMORY_DYLIB, VM_MEMORY_DYLIB, "VM: dyld"},
                 {VM_MEMORY_OBJC_DISPATCHERS, VM_MEMORY_OBJC_DISPATCHERS, "VM: ObjC dispatchers"},
                 {VM_MEMORY_UNSHARED_PMAP, VM_MEMORY_UNSHARED_PMAP, "VM: shared libraries"},
                 {VM_MEMORY_APPKIT, VM_MEMORY_APPKIT, "VM: AppKit"},
                 {VM_MEMORY_FOUNDATION, VM_MEMORY_FOUNDATION, "VM: Foundation"},
                 {VM_MEMORY_COREGRAPHICS, VM_MEMORY_COREGRAPHICS, "VM: CoreGraphics"},
                 {VM_MEMORY_CORESERVICES, VM_MEMORY_CORESERVICES, "VM: CoreServices"},
                 {VM_MEMORY_COREDATA, VM_MEMORY_COREDATA_OBJECTIDS, "VM: CoreData"},
                 {VM_MEMORY_ATS, VM_MEMORY_ATS, "VM: fonts"},
                 {VM_MEMORY_LAYERKIT, VM_MEMORY_LAYERKIT, "VM: CoreAnimation"},
                 {VM_MEMORY_CGIMAGE, VM_MEMORY_CGIMAGE, "VM: CG image"},
                 {VM_MEMORY_TCMALLOC, VM_MEMORY_TCMALLOC, "[heap]"},
                 {VM_MEMORY_COREGRAPHICS_DATA, VM_MEMORY_COREGRAPHICS_DATA, "VM: CG raster data"},
                 {VM_MEMORY_COREGRAPHICS_SHARED, VM_MEMORY_COREGRAPHICS_XALLOC, "VM: CoreGraphics"},
                 {VM_MEMORY_DYLD, VM_MEMORY_DYLD_MALLOC, "VM: dyld"},
                 {VM_MEMORY_SQLITE, VM_MEMORY_SQLITE, "VM: SQLite"},
                 {VM_MEMORY_JAVASCRIPT_CORE, VM_MEMORY_JAVASCRIPT_CORE, "VM: JavaScriptCore"},
                 {VM_MEMORY_JAVASCRIPT_JIT_EXECUTABLE_ALLOCATOR, VM_MEMORY_JAVASCRIPT_JIT_REGISTER_FILE, "VM: JS code"},
                 {VM_MEMORY_GLSL, VM_MEMORY_OPENCL, "VM: OpenGL"},
                 {VM_MEMORY_COREIMAGE, VM_MEMORY_COREIMAGE, "VM: CoreImage"},
                 {VM_MEMORY_WEBCORE_PURGEABLE_BUFFERS, VM_MEMORY_WEBCORE_PURGEABLE_BUFFERS, "VM: WebKit"},
                 {VM_MEMORY_IMAGEIO, VM_MEMORY_IMAGEIO, "VM: ImageIO"},
                 {VM_MEMORY_LIBDISPATCH, VM_MEMORY_LIBDISPATCH, "VM: libdispatch"},
                 {VM_MEMORY_ACCELERATE, VM_MEMORY_ACCELERATE, "VM: Accelerate"},
                 {VM_MEMORY_COREUI, VM_MEMORY_COREUIFILE, "VM: CoreUI"},
                 {VM_MEMORY_SWIFT_RUNTIME, VM_MEMORY_SWIFT_METADATA, "VM: Swift"},
                 {VM_MEMORY_SCENEKIT, VM_MEMORY_SCENEKIT, "VM: SceneKit"},
                 {VM_MEMORY_SKYWALK, VM_MEMORY_SKYWALK, "VM: network"},
                 {VM_MEMORY_IOSURFACE, VM_MEMORY_IOSURFACE, "VM: IOSurface"},
                 {VM_MEMORY_LIBNETWORK, VM_MEMORY_LIBNETWORK, "VM: network"},
                 {VM_MEMORY_AUDIO, VM_MEMORY_AUDIO, "VM: audio"},
                 {VM_MEMORY_VIDEOBITSTREAM, VM_MEMORY_CM_CRABS, "VM: CoreMedia"},
                 {VM_MEMORY_IOACCELERATOR, VM_MEMORY_IOACCELERATOR, "VM: IOAccelerator"},
                 {VM_MEMORY_CM_REGWARP, VM_MEMORY_CM_REGWARP, "VM: CoreMedia"},
                 {VM_MEMORY_COREUI_CACHED_IMAGE_DATA, VM_MEMORY_COREUI_CACHED_IMAGE_DATA, "VM: CoreUI"},
                 {VM_MEMORY_CM_HLS, VM_MEMORY_CM_HLS, "VM: CoreMedia"},
                 {VM_MEMORY_APPLICATION_SPECIFIC_1, VM_MEMORY_APPLICATION_SPECIFIC_16, "VM: app-specific"}};

    for (size_t i = 0; i < MIRE_COUNT(names); i++)
        if (tag >= names[i].first && tag <= names[i].last)
            return names[i].name;
    return tag == 0 ? "" : "VM: other";
}

typedef bool region_fn(void *context, vm_address_t at, vm_size_t size, const vm_region_submap_info_data_64_t *info);

/* Visit each region that holds memory, down into the maps inside the map: the libraries of the system share one. */
static bool visit_regions(region_fn *visit, void *context)
{
    vm_address_t at = 0;
    natural_t depth = 0;

    for (;;) {
        vm_region_submap_info_data_64_t info;
        mach_msg_type_number_t count = VM_REGION_SUBMAP_INFO_COUNT_64;
        vm_size_t size = 0;
        kern_return_t result =
            vm_region_recurse_64(mach_task_self(), &at, &size, &depth, (vm_region_recurse_info_t)&info, &count);

        if (result == KERN_INVALID_ADDRESS)
            return true;
        if (result != KERN_SUCCESS)
            return false;
        if (info.is_submap) {
            depth++;
            continue;
        }
        if (!visit(context, at, size, &info))
            return true;
        at += size;
    }
}

struct mapping_visit {
    bool (*mapping)(void *context, const struct mapping *mapping);
    bool (*use)(void *context, const struct mapping *mapping, const struct mapping_use *use);
    void *context;
};

static bool visit_region(void *context, vm_address_t at, vm_size_t size, const vm_region_submap_info_data_64_t *info)
{
    const struct mapping_visit *visit = context;
    const struct mapping mapping = {.start = at,
                                    .end = at + size,
                                    .offset = info->offset,
                                    .inode = info->external_pager ? info->object_id : 0,
                                    .readable = (info->protection & VM_PROT_READ) != 0,
                                    .writable = (info->protection & VM_PROT_WRITE) != 0,
                                    .executable = (info->protection & VM_PROT_EXECUTE) != 0,
                                    .path = info->external_pager ? "/mapped file" : name_of(info->user_tag)};
    const struct mapping_use use = {.resident_bytes = (uint64_t)info->pages_resident * vm_page_size,
                                    .anonymous_bytes = (uint64_t)info->pages_dirtied * vm_page_size,
                                    .swapped_bytes = (uint64_t)info->pages_swapped_out * vm_page_size};

    return visit->mapping ? visit->mapping(visit->context, &mapping) : visit->use(visit->context, &mapping, &use);
}

bool mire__mappings_visit(bool (*visit)(void *context, const struct mapping *mapping), void *context, char *buffer,
                          size_t buffer_bytes)
{
    struct mapping_visit to = {.mapping = visit, .context = context};

    (void)buffer;
    (void)buffer_bytes;
    return visit_regions(visit_region, &to);
}

bool mire__smaps_visit(bool (*visit)(void *context, const struct mapping *mapping, const struct mapping_use *use),
                       void *context, char *buffer, size_t buffer_bytes)
{
    struct mapping_visit to = {.use = visit, .context = context};

    (void)buffer;
    (void)buffer_bytes;
    return visit_regions(visit_region, &to);
}
