/*
 * retrace_file.c - writes a mapping as a file, and maps it.
 */
#include "java/retrace_inside.h"

#include "base/write.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

_Static_assert(sizeof(struct retrace_head) == 40 && sizeof(struct retrace_class) == 32 &&
                   sizeof(struct retrace_member) == 72 && sizeof(struct retrace_number) == 20,
               "the rows have no holes");

struct file_part {
    const void *bytes;
    size_t len;
};

#define PARTS 5

static void parts_of(struct file_part out[PARTS], const struct retrace *retrace)
{
    const struct retrace_head *head = &retrace->head;
    out[0] = (struct file_part){retrace->classes, head->class_count * sizeof *retrace->classes};
    out[1] = (struct file_part){retrace->names, head->class_count * sizeof *retrace->names};
    out[2] = (struct file_part){retrace->members, head->member_count * sizeof *retrace->members};
    out[3] = (struct file_part){retrace->numbers, head->number_count * sizeof *retrace->numbers};
    out[4] = (struct file_part){retrace->texts, head->text_bytes};
}

bool retrace_write(int fd, const struct retrace *retrace)
{
    struct retrace_head head = retrace->head;
    struct file_part parts[PARTS];
    bool good = true;
    parts_of(parts, retrace);
    head.crc = 0;
    for (size_t i = 0; i < PARTS; i++)
        head.crc = parts[i].len ? libdeflate_crc32(head.crc, parts[i].bytes, parts[i].len) : head.crc;
    good = write_all(fd, &head, sizeof head);
    for (size_t i = 0; i < PARTS && good; i++)
        good = write_all(fd, parts[i].bytes, parts[i].len);
    return good;
}

/* Compute the position of each part. Returns NULL, or the problem. */
static const char *lay_out(struct retrace *retrace, bool whole)
{
    struct retrace_head *head = &retrace->head;
    const uint8_t *bytes = retrace->map;
    uint64_t at = sizeof *head;
    memcpy(head, bytes, sizeof *head);
    if (memcmp(head->magic, MIRE_RETRACE_MAGIC, sizeof head->magic) != 0 || head->version != MIRE_RETRACE_VERSION)
        return "is no mapping of this version";
    retrace->classes = (const void *)(bytes + at);
    at += (uint64_t)head->class_count * sizeof *retrace->classes;
    retrace->names = (const void *)(bytes + at);
    at += (uint64_t)head->class_count * sizeof *retrace->names;
    retrace->members = (const void *)(bytes + at);
    at += (uint64_t)head->member_count * sizeof *retrace->members;
    retrace->numbers = (const void *)(bytes + at);
    at += (uint64_t)head->number_count * sizeof *retrace->numbers;
    retrace->texts = (const char *)bytes + at;
    if (at + head->text_bytes != retrace->map_len)
        return "has a header that does not fit it";
    if (whole && libdeflate_crc32(0, bytes + sizeof *head, retrace->map_len - sizeof *head) != head->crc)
        return "is damaged";
    return NULL;
}

const char *retrace_map(struct retrace **out, int fd, bool whole)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(struct retrace_head))
        return "is too short";
    struct retrace *retrace = calloc(1, sizeof *retrace);
    void *bytes = retrace ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        free(retrace);
        return "cannot be mapped";
    }
    retrace->map = bytes;
    retrace->map_len = (size_t)st.st_size;
    const char *wrong = lay_out(retrace, whole);
    if (wrong) {
        retrace_close(retrace);
        return wrong;
    }
    *out = retrace;
    return NULL;
}
