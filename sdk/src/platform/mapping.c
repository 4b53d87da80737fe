/* mapping.c - reads /proc/self/maps, or a copy of it. Signal-safe: own number parsing, no stdio. */
#include "platform/mapping.h"

#include "platform/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool mire__mapping_read(struct mapping *out, char *line)
{
    const char *at = read_hex(&out->start, line);
    const char *flags;

    if (*at != '-')
        return false;
    at = read_hex(&out->end, at + 1);
    flags = skip_spaces(at);
    if (strlen(flags) < 5)
        return false;
    out->readable = flags[0] == 'r';
    out->writable = flags[1] == 'w';
    out->executable = flags[2] == 'x';
    at = read_hex(&out->offset, flags + 4);
    at = strchr(skip_spaces(at), ' ');
    if (!at)
        return false;
    out->path = skip_spaces(read_decimal(&out->inode, at));
    return true;
}

bool mire__mappings_visit(bool (*visit)(void *context, const struct mapping *mapping), void *context, char *buffer,
                          size_t buffer_bytes)
{
    int saved = errno;
    long kept = mire__proc_kept_maps();
    bool keeps = kept >= 0;
    long fd = keeps ? kept : syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), got = 0, at = 0;
    size_t held = 0;
    bool more = fd >= 0;

    while (more) {
        got = syscall(SYS_pread64, fd, buffer + held, buffer_bytes - held, at);
        if (got <= 0)
            break;
        held += (size_t)got;
        at += got;

        char *line = buffer, *newline;
        struct mapping mapping;

        while (more && (newline = memchr(line, '\n', held - (size_t)(line - buffer)))) {
            *newline = '\0';
            if (mire__mapping_read(&mapping, line))
                more = visit(context, &mapping);
            line = newline + 1;
        }
        held -= (size_t)(line - buffer);
        memmove(buffer, line, held);
        if (held == buffer_bytes)
            held = 0;
    }
    if (fd >= 0 && !keeps)
        syscall(SYS_close, fd);
    errno = saved;
    return fd >= 0 && got >= 0;
}
