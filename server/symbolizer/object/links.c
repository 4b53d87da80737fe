/*
 * links.c - reads the build id of an ELF file and its links to other files. Lengths in the file do not bound the work;
 * small limits do.
 *
 *     note                 name's length, data's length, type, name, data; both filled up to four bytes
 *     .gnu_debuglink       a name without folders, filled up to four bytes, and a checksum
 *     .gnu_debugaltlink    a path, and the build id of the file there
 */
#include "object/parts.h"

#include "base/bytes.h"
#include "base/path.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define LINK_MAX 4096u /* limit of a section that names another file, bytes */

void notes_read(struct object_facts *facts, const uint8_t *at, uint64_t size)
{
    const uint8_t *end = at + size;
    while (!facts->id_len && end - at >= 12) {
        uint64_t name_room = ((uint64_t)load_32(at) + 3) & ~3ull;
        uint64_t data_len = load_32(at + 4);
        const uint8_t *name = at + 12;
        if (name_room + data_len > (uint64_t)(end - name))
            return;
        if (load_32(at + 8) == NT_GNU_BUILD_ID && load_32(at) == 4 && !memcmp(name, "GNU", 4) && data_len &&
            data_len <= sizeof facts->id) {
            memcpy(facts->id, name + name_room, data_len);
            facts->id_len = data_len;
        }
        uint64_t next = name_room + ((data_len + 3) & ~3ull);
        if (next > (uint64_t)(end - name))
            return;
        at = name + next;
    }
}

void altlink_read(struct object_facts *facts, const uint8_t *bytes, size_t size)
{
    const uint8_t *nul = size <= LINK_MAX ? memchr(bytes, '\0', size) : NULL;
    size_t len = nul ? size - (size_t)(nul + 1 - bytes) : 0;
    if (!len || len > sizeof facts->alt_id)
        return;
    memcpy(facts->alt_id, nul + 1, len);
    facts->alt_id_len = len;
    snprintf(facts->alt_name, sizeof facts->alt_name, "%s", path_base((const char *)bytes));
}

void debuglink_read(struct object_facts *facts, const uint8_t *bytes, size_t size)
{
    const uint8_t *nul = size <= LINK_MAX ? memchr(bytes, '\0', size) : NULL;
    size_t len = nul ? (size_t)(nul - bytes) : 0;
    size_t crc_at = (len + 4) & ~(size_t)3;
    if (!len || len >= sizeof facts->link || size < crc_at + 4 || memchr(bytes, '/', len))
        return;
    memcpy(facts->link, bytes, len + 1);
    facts->link_crc = load_32(bytes + crc_at);
}
