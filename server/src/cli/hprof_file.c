/* hprof_file.c - see hprof_file.h. */
#include "cli/hprof_file.h"
#include "cli/say.h"

#include "hprof/hprof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool hprof_file_is(const char *path)
{
    char begin[32];
    int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t len = fd < 0 ? -1 : read(fd, begin, sizeof begin);
    if (fd >= 0)
        close(fd);
    return len > 0 && hprof_is(begin, (size_t)len);
}

char *hprof_file_report(size_t *len_out, const char *command, const char *path)
{
    struct hprof_fault fault;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        say(stderr, "%s: cannot read %s: %s\n", command, path, strerror(errno));
        return NULL;
    }
    if (!hprof_report(&text, len_out, &fault, fd, NULL))
        say(stderr, "%s: %s: %s\n", command, path, fault.text);
    close(fd);
    return text;
}
