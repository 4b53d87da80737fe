/*
 * open.c - examines plain files in place; the child unpacks archives first.
 */
#include "sandbox/open.h"
#include "archive/archive.h"
#include "sandbox/child.h"

#include "base/scope.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>

static enum contents_answer open_archive(struct contents *out, char *why, int fd, const char *dir,
                                         const char *converter)
{
    out->fd = dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : memfd_create("mire-contents", MFD_CLOEXEC);
    out->own = out->fd >= 0;
    if (!out->own)
        return CONTENTS_FAILED;
    switch (child_unpack(why, out->fd, fd, converter)) {
    case CHILD_DONE:
        return contents_read(out) ? CONTENTS_GOOD : CONTENTS_FAILED;
    case CHILD_WRONG:
        return CONTENTS_WRONG;
    default:
        return CONTENTS_FAILED;
    }
}

enum contents_answer contents_open(struct contents *out, char *why, int fd, const char *dir, const char *converter)
{
    struct file_bytes file;
    const char *wrong;
    *out = (struct contents){.fd = fd};
    why[0] = '\0';
    if (!file_bytes_map_fd(&file, fd)) {
        snprintf(why, MIRE_SYMBOL_WHY, "is empty, too large, or no plain file");
        return CONTENTS_WRONG;
    }
    bool packed = archive_is(file.bytes, file.len);
    wrong = packed ? NULL : contents_add(out, file.bytes, 0, file.len, "");
    file_bytes_unmap(&file);
    if (packed)
        return open_archive(out, why, fd, dir, converter);
    snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong ? wrong : "");
    return wrong ? CONTENTS_WRONG : CONTENTS_GOOD;
}

/* Wait for the lock on `dir`. Returns a descriptor that the caller closes; -1: a system call failed. */
static int take_turn(const char *dir)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/checking", dir) >= (int)sizeof path)
        return -1;
    int turn = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (turn >= 0 && flock(turn, LOCK_EX) != 0)
        continue; /* interrupted by a signal */
    return turn;
}

/* "2is damaged: ...": remove the digit and return it as the depth. */
static enum symbol_depth take_depth(char *why)
{
    int depth = why[0] - '0';
    if (depth < MIRE_DEPTH_UNKNOWN || depth > MIRE_DEPTH_DWARF)
        return MIRE_DEPTH_UNKNOWN;
    memmove(why, why + 1, strlen(why));
    return (enum symbol_depth)depth;
}

enum contents_answer contents_check(char *why, enum symbol_depth *depth_out, const struct contents *contents,
                                    const struct contents_item *item, const char *dir, const char *converter)
{
    MIRE_SCOPED(close_fd) int turn = dir ? take_turn(dir) : -1;
    why[0] = '\0';
    *depth_out = MIRE_DEPTH_UNKNOWN;
    if (dir && turn < 0)
        return CONTENTS_FAILED;
    enum child_answer answer = child_check(why, contents->fd, item->at, item->len, converter);
    *depth_out = take_depth(why);
    if (answer == CHILD_DONE)
        return CONTENTS_GOOD;
    return answer == CHILD_WRONG ? CONTENTS_WRONG : CONTENTS_FAILED;
}
