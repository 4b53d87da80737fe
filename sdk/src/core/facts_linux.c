/*
 * facts_linux.c - from uname, sysconf, /etc/os-release and /proc.
 */
#include "core/facts.h"

#include "platform/platform.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID */

static size_t aligned(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* The build id among the notes of a segment, as hex digits. */
static bool find_build_id(char *out, size_t cap_bytes, const char *notes, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    ElfW(Nhdr) note;

    while (size >= sizeof(note)) {
        memcpy(&note, notes, sizeof(note));
        size_t name_at = sizeof(note), id_at = name_at + aligned(note.n_namesz);
        size_t next = id_at + aligned(note.n_descsz);
        if (note.n_namesz > size || note.n_descsz > size || next > size)
            return false;
        if (note.n_type == NOTE_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name_at, "GNU", 4) == 0 &&
            note.n_descsz > 0 && 2 * (size_t)note.n_descsz < cap_bytes) {
            for (size_t i = 0; i < note.n_descsz; i++) {
                unsigned char byte = (unsigned char)notes[id_at + i];
                out[2 * i] = hex[byte >> 4];
                out[2 * i + 1] = hex[byte & 15];
            }
            out[2 * note.n_descsz] = '\0';
            return true;
        }
        notes += next;
        size -= next;
    }
    return false;
}

/* The first module is the executable. */
static int look_at_executable(struct dl_phdr_info *info, size_t size, void *context)
{
    struct blackbox_facts *facts = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_NOTE &&
            find_build_id(facts->app_build, sizeof(facts->app_build), at, segment->p_memsz))
            break;
    }
    return 1;
}

static void first_line(char *out, size_t cap_bytes, const char *path)
{
    if (mire__file_read(out, cap_bytes, path) < 0)
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* The value of NAME= in the text of /etc/os-release (os-release(5)), without its quotes; "" if it is not there. */
static void find_setting(char *out, size_t cap_bytes, const char *text, const char *name)
{
    size_t name_len = strlen(name);

    out[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, name_len) != 0 || line[name_len] != '=')
            continue;
        const char *value = line + name_len + 1;
        value += *value == '"' || *value == '\'';
        size_t len = strcspn(value, "\"'\n");
        if (len >= cap_bytes)
            len = cap_bytes - 1;
        memcpy(out, value, len);
        out[len] = '\0';
        return;
    }
}

/* "debian 12"; for a distribution without versions its name; otherwise the kernel's release. */
static void find_os_version(char *out, size_t cap_bytes, const char *kernel_release)
{
    char text[4096], id[32], version[32];

    if (mire__file_read(text, sizeof(text), "/etc/os-release") < 0)
        text[0] = '\0';
    find_setting(id, sizeof(id), text, "ID");
    find_setting(version, sizeof(version), text, "VERSION_ID");
    if (id[0])
        snprintf(out, cap_bytes, "%s%s%s", id, version[0] ? " " : "", version);
    else
        mire__text_copy(out, cap_bytes, kernel_release);
}

const char *mire__facts_state_folder(void)
{
    return "/.local/state";
}

void mire__facts_of_system(struct blackbox_facts *out)
{
    struct utsname names;

    mire__text_copy(out->os, sizeof(out->os), "linux");
    if (uname(&names) == 0) {
        find_os_version(out->os_version, sizeof(out->os_version), names.release);
        mire__text_copy(out->arch, sizeof(out->arch), names.machine);
    }
    first_line(out->model, sizeof(out->model), "/sys/devices/virtual/dmi/id/product_name");
    first_line(out->process_name, sizeof(out->process_name), "/proc/self/comm");
    if (!out->app_build[0])
        dl_iterate_phdr(look_at_executable, out);
}
