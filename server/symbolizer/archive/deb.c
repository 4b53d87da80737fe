/*
 * deb.c - reads Debian packages, including debug packages: an ar file of archives.
 *
 *     !<arch>\n  [ header 60, bytes, filled up to two ]...      debian-binary, control.tar.xz, data.tar.xz
 */
#include "archive/archive_inside.h"

#include <string.h>

#define MARK   "!<arch>\n"
#define FIRST  "debian-binary"
#define HEADER 60u
#define SIZE   48u /* offset of the member's size, ten decimal digits */

bool deb_is(const uint8_t *bytes, size_t len)
{
    return len >= strlen(MARK) + HEADER && !memcmp(bytes, MARK, strlen(MARK)) &&
           !memcmp(bytes + strlen(MARK), FIRST, strlen(FIRST));
}

static uint64_t size_of(const uint8_t *header)
{
    uint64_t size = 0;
    for (size_t i = SIZE; i < SIZE + 10 && header[i] >= '0' && header[i] <= '9'; i++)
        size = size * 10 + (uint64_t)(header[i] - '0');
    return size;
}

const char *deb_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len)
{
    const char *wrong = NULL;
    for (size_t at = strlen(MARK); !wrong && !unpacking->all->enough && len - at >= HEADER;) {
        const uint8_t *header = bytes + at;
        uint64_t size = size_of(header);
        struct stream stream;
        at += HEADER;
        if (size > len - at)
            return "is damaged: it ends within a file";
        if (!stream_init(&stream, STREAM_PLAIN, bytes + at, (size_t)size, &unpacking->all->work))
            return "needs more memory than there is";
        stream.alone = true;
        if (size)
            wrong = member_take(unpacking, &stream, size, ""); /* the name data.tar.xz would mean nothing to a user */
        stream_fini(&stream);
        at += (size_t)size;
        at += at % 2 && at < len;
    }
    return wrong;
}
