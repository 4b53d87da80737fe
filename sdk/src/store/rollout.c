/*
 * rollout.c - the last valid rollout document: one file, "<etag>\n<document>".
 */
#include "platform/file.h"
#include "platform/platform.h"
#include "base/alloc.h"
#include "store/inside.h"

#include <string.h>
#include <sys/stat.h>

size_t mire__store_rollout(char etag[MIRE_STORE_ETAG_BYTES], char *text, size_t cap, struct store *store)
{
    const size_t room = MIRE_STORE_ETAG_BYTES + cap;
    char *bytes = mire__malloc(room);
    size_t size = 0;
    ssize_t length;

    etag[0] = '\0';
    if (!bytes || (length = mire__store_load(store, "rollout", bytes, room)) <= 0) {
        mire__free(bytes);
        return 0;
    }
    const char *line_end = memchr(bytes, '\n', (size_t)length);
    if (line_end && line_end - bytes < MIRE_STORE_ETAG_BYTES) {
        size_t etag_size = (size_t)(line_end - bytes);

        size = (size_t)length - etag_size - 1;
        size = size <= cap ? size : 0;
        memcpy(etag, bytes, etag_size);
        etag[etag_size] = '\0';
        memcpy(text, line_end + 1, size);
    }
    mire__free(bytes);
    return size;
}

enum mire_err mire__store_set_rollout(struct store *store, const char *etag, const char *text, size_t size)
{
    size_t etag_size = strlen(etag) < MIRE_STORE_ETAG_BYTES && !strchr(etag, '\n') ? strlen(etag) : 0;
    const struct disk_part parts[] = {{etag, etag_size}, {"\n", 1}, {text, size}};

    return mire__store_save(store, "rollout", parts, 3);
}

/* Each write makes a new file: inode and time identify the document. */
uint64_t mire__store_rollout_mark(struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];
    struct stat info;

    if (!mire__store_path(path, store, "rollout", "") || stat(path, &info) != 0)
        return 0;
    return mire__file_changed_ns(&info) ^ (uint64_t)info.st_ino << 1;
}
