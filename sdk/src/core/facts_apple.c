/*
 * facts_apple.c - from sysctl, and from the headers of the executable. See facts.h.
 */
#include "core/facts.h"

#include "platform/platform.h"

#include <TargetConditionals.h>
#include <crt_externs.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#if TARGET_OS_OSX
#define OS    "macos"
#define MODEL "hw.model"
#else
#define OS    "ios"
#define MODEL "hw.machine"
#endif

static void read_text(char *out, size_t cap_bytes, const char *name)
{
    size_t size = cap_bytes - 1;

    memset(out, 0, cap_bytes);
    if (sysctlbyname(name, out, &size, NULL, 0) != 0)
        out[0] = '\0';
}

static uint64_t read_number(const char *name)
{
    uint64_t value = 0;
    size_t size = sizeof(value);

    return sysctlbyname(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

/* LC_UUID of the executable, by which its dSYM is found. */
static void find_build(char out[MIRE_FACT_BYTES])
{
    const struct mach_header_64 *header = (const struct mach_header_64 *)_NSGetMachExecuteHeader();
    const char *at = (const char *)(header + 1);

    for (uint32_t i = 0; i < header->ncmds; i++) {
        const struct load_command *command = (const struct load_command *)(const void *)at;

        if (command->cmd == LC_UUID) {
            const struct uuid_command *uuid = (const struct uuid_command *)(const void *)at;

            for (size_t byte = 0; byte < sizeof(uuid->uuid); byte++)
                snprintf(out + 2 * byte, 3, "%02x", uuid->uuid[byte]);
            return;
        }
        at += command->cmdsize;
    }
}

static void collect_device(struct blackbox_facts *out)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    mire__text_copy(out->os, sizeof(out->os), OS);
    read_text(out->os_version, sizeof(out->os_version), "kern.osproductversion");
    read_text(out->model, sizeof(out->model), MODEL);
#ifdef __aarch64__
    mire__text_copy(out->arch, sizeof(out->arch), "arm64");
#else
    mire__text_copy(out->arch, sizeof(out->arch), "x86_64");
#endif
    out->cpu_count = cpus > 0 ? (uint32_t)cpus : 0;
    out->memory_bytes = read_number("hw.memsize");
}

static void collect_process(struct blackbox_facts *out)
{
    uint32_t size = sizeof(out->exe_path);
    const char *name;

    if (_NSGetExecutablePath(out->exe_path, &size) != 0)
        out->exe_path[0] = '\0';
    name = strrchr(out->exe_path, '/');
    mire__text_copy(out->process_name, sizeof(out->process_name), name ? name + 1 : out->exe_path);
    read_text(out->boot_id, sizeof(out->boot_id), "kern.bootsessionuuid");
    mire__facts_of_begin(out);
}

const char *mire__facts_state_folder(void)
{
    return "/Library/Caches";
}

void mire__facts_collect(struct blackbox_facts *out, const mire_options *options, const char *install)
{
    memset(out, 0, sizeof(*out));
    mire__facts_of_app(out, options, install);
    if (!out->app_build[0])
        find_build(out->app_build);
    collect_device(out);
    mire__facts_take_options(out, options);
    collect_process(out);
}

void mire__facts_of_kernel(char *out, size_t cap_bytes)
{
    read_text(out, cap_bytes, "kern.osversion");
}
