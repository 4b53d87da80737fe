/* smaps.c - see platform.h: mappings, and the memory of each. */
#include "platform/platform.h"

#include "platform/mapping.h"
#include "platform/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The data of one mapping: its line, then its figures. */
struct smaps_scan {
    bool (*visit)(void *context, const struct mapping *mapping, const struct mapping_use *use);
    void *context;
    struct mapping mapping;
    struct mapping_use use;
    char path[MIRE_PATH_BYTES]; /* its beginning */
    bool any;
};

static bool finish(struct smaps_scan *scan)
{
    bool more = !scan->any || scan->visit(scan->context, &scan->mapping, &scan->use);

    scan->any = false;
    return more;
}

static bool take_line(struct smaps_scan *scan, char *line)
{
    static const struct {
        const char *key;
        size_t at;
    } figures[] = {{"Rss:", offsetof(struct mapping_use, resident_bytes)},
                   {"Anonymous:", offsetof(struct mapping_use, anonymous_bytes)},
                   {"Swap:", offsetof(struct mapping_use, swapped_bytes)}};
    uint64_t kib;

    if (*line < 'A' || *line > 'Z') { /* a mapping's own */
        bool more = finish(scan);

        scan->any = mire__mapping_read(&scan->mapping, line);
        if (scan->any) {
            mire__text_copy(scan->path, sizeof(scan->path), scan->mapping.path);
            scan->mapping.path = scan->path;
            scan->use = (struct mapping_use){0, 0, 0};
        }
        return more;
    }
    for (size_t i = 0; i < MIRE_COUNT(figures); i++) {
        size_t length = strlen(figures[i].key);

        if (strncmp(line, figures[i].key, length) != 0)
            continue;
        read_decimal(&kib, line + length);
        kib *= 1024;
        memcpy((char *)&scan->use + figures[i].at, &kib, sizeof(kib));
    }
    return true;
}

bool mire__smaps_visit(bool (*visit)(void *context, const struct mapping *mapping, const struct mapping_use *use),
                       void *context, char *buffer, size_t buffer_bytes)
{
    struct smaps_scan scan = {.visit = visit, .context = context};
    int saved = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/smaps", O_RDONLY | O_CLOEXEC, 0), got = 0;
    size_t held = 0;
    bool more = fd >= 0;

    while (more && (got = syscall(SYS_read, fd, buffer + held, buffer_bytes - held)) > 0) {
        char *line = buffer, *newline;

        held += (size_t)got;
        while (more && (newline = memchr(line, '\n', held - (size_t)(line - buffer)))) {
            *newline = '\0';
            more = take_line(&scan, line);
            line = newline + 1;
        }
        held -= (size_t)(line - buffer);
        memmove(buffer, line, held);
        if (held == buffer_bytes)
            held = 0; /* a line of that length has no figure */
    }
    if (more)
        finish(&scan);
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    return fd >= 0 && got >= 0;
}
