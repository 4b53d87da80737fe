/*
 * packages_ndb.c - rpm's own format: Packages.db has the headers, Index.db a hash table for each tag. All numbers are
 * little-endian.
 *
 *     Packages.db   "RpmP" version generation pages, in 32 bytes; then slots "Slot" package block blocks to the end of
 *                   those pages of 4,096 bytes. A block has 16 bytes; there "BlbS" package generation size, and the
 *                   header
 *     Index.db      "RpmX" version generation pages page-size, in 32 bytes; then slots "Slo"+part tag page pages.
 *                   There "RpmI" version generation slots . . mask keys-end, in 64 bytes; then for each slot a key's
 *                   offset with bits of its hash, and data; then 4 bytes more of data for each slot; then the keys
 */
#include "report/packages_rpm_db.h"

#include "base/alloc.h"

#include <string.h>

#define SLOT_SIZE     16
#define FILE_HEADER   32
#define BLOCK_SIZE    16
#define PAGE_SIZE     4096
#define SLOTS_MAX     (1u << 24) /* of all kinds */
#define TABLE_HEADER  64
#define TAG_BASENAMES 1117
#define HEADER_MAX    (32u << 20)
#define TAKEN_OUT     0xffffffffu /* instead of a key's offset */

/* A slot of either file. */
struct slot {
    uint32_t key, first, count; /* tag or package; first page or block, and how many */
};

/* The slot that begins with those four bytes and that number, among those in the file's first `bytes`. */
static bool find_slot(struct slot *out, struct rpm_db *db, int fd, uint64_t bytes, const char *magic, uint32_t key)
{
    uint8_t part[PAGE_SIZE];

    for (uint64_t at = FILE_HEADER; at < bytes;) {
        size_t size = bytes - at < sizeof(part) ? (size_t)(bytes - at) : sizeof(part);

        if (!mire__rpm_read(db, fd, part, size, at))
            return false;
        for (size_t i = 0; i + SLOT_SIZE <= size; i += SLOT_SIZE) {
            *out = (struct slot){rpm_le32(part + i + 4), rpm_le32(part + i + 8), rpm_le32(part + i + 12)};
            if (memcmp(part + i, magic, 4) == 0 && out->key == key && out->first != 0)
                return true;
        }
        at += size;
    }
    return false;
}

/* Find the table of base names in Index.db. */
static bool open_ndb(struct rpm_db *db)
{
    uint8_t header[TABLE_HEADER];
    uint32_t page_size;
    struct slot slot;
    uint64_t end;

    if (!mire__rpm_read(db, db->index, header, FILE_HEADER, 0) || memcmp(header, "RpmX\0\0\0\0", 8) != 0)
        return false;
    page_size = rpm_le32(header + 16);
    if (page_size < 256 || page_size > 65536 || rpm_le32(header + 12) > SLOTS_MAX / page_size ||
        !find_slot(&slot, db, db->index, (uint64_t)rpm_le32(header + 12) * page_size, "Slo\0", TAG_BASENAMES))
        return false;
    db->ndb.at = (uint64_t)slot.first * page_size;
    end = db->ndb.at + (uint64_t)slot.count * page_size;
    if (!mire__rpm_read(db, db->index, header, sizeof(header), db->ndb.at) || memcmp(header, "RpmI\0\0\0\0", 8) != 0)
        return false;
    db->ndb.at += TABLE_HEADER;
    db->ndb.slots = rpm_le32(header + 12);
    db->ndb.tag = rpm_le32(header + 24);
    db->ndb.keys = db->ndb.at + (uint64_t)db->ndb.slots * 12;
    db->ndb.keys_end = db->ndb.keys + rpm_le32(header + 28);
    return db->ndb.slots && db->ndb.slots <= SLOTS_MAX && (db->ndb.slots & (db->ndb.slots - 1)) == 0 &&
           db->ndb.keys_end <= end;
}

static uint32_t hash_name(const char *name, size_t length)
{
    const uint8_t *at = (const uint8_t *)name;
    const uint32_t factor = 0x5bd1e995;
    uint32_t hash = (uint32_t)length * factor, rest = 0;

    for (; length >= 4; at += 4, length -= 4) {
        hash = (hash + rpm_le32(at)) * factor;
        hash ^= hash >> 16;
    }
    for (size_t i = 0; i < length; i++)
        rest |= (uint32_t)at[i] << 8 * i;
    if (length) {
        hash = (hash + rest) * factor;
        hash ^= hash >> 16;
    }
    hash *= factor;
    hash ^= hash >> 10;
    hash *= factor;
    return hash ^ hash >> 17;
}

/* Is the key at that offset the name? Keys as long as a file's name can be have a length of one byte, or of three. */
static bool is_key(struct rpm_db *db, uint32_t offset, const char *name, size_t length)
{
    uint8_t key[3 + 256];
    uint8_t head = length && length < 255 ? 1 : 3;
    uint64_t at = db->ndb.keys + offset;

    if (at + head + length > db->ndb.keys_end || !mire__rpm_read(db, db->index, key, head + length, at))
        return false;
    return (head == 1 ? key[0] == length : key[0] == 255 && (key[1] | (uint32_t)key[2] << 8) == length) &&
           memcmp(key + head, name, length) == 0;
}

/* Package and file out of a slot's data and what did not go into it. */
static struct rpm_ref decode(uint32_t data, uint32_t more)
{
    if (data & 0x80000000u)
        return (struct rpm_ref){.package = more, .file = data ^ 0x80000000u};
    if (data & 0x40000000u)
        return (struct rpm_ref){.package = data & 0xffffff, .file = (data ^ 0x40000000u) >> 24};
    return (struct rpm_ref){.package = data & 0xfffff, .file = data >> 20};
}

static size_t find_ndb(struct rpm_db *db, struct rpm_ref *refs, size_t max, const char *name)
{
    size_t length = strlen(name), count = 0;
    uint32_t hash = hash_name(name, length), mask = db->ndb.slots - 1, slot = hash & mask, step = 7, key = 0;
    uint8_t pair[8], more[4];

    for (uint32_t looks = 0; length < 256 && looks < db->ndb.slots && count < max; looks++) {
        uint32_t at, data;

        if (!mire__rpm_read(db, db->index, pair, sizeof(pair), db->ndb.at + (uint64_t)slot * 8) ||
            !mire__rpm_read(db, db->index, more, sizeof(more), db->ndb.at + (uint64_t)db->ndb.slots * 8 + slot * 4))
            break;
        at = rpm_le32(pair);
        data = rpm_le32(pair + 4);
        slot = (slot + step++) & mask;
        if (at == 0)
            break;
        if (!key && at != TAKEN_OUT && ((at ^ hash) & db->ndb.tag) == 0 && is_key(db, at & ~db->ndb.tag, name, length))
            key = at;
        if (key && at == key)
            refs[count++] = decode(data, rpm_le32(more));
    }
    return count;
}

static uint8_t *load_ndb(struct rpm_db *db, size_t *size_out, uint32_t package)
{
    uint8_t header[FILE_HEADER], *bytes = NULL;
    struct slot slot;
    uint64_t at;

    if (!mire__rpm_read(db, db->fd, header, sizeof(header), 0) || memcmp(header, "RpmP\0\0\0\0", 8) != 0 ||
        rpm_le32(header + 12) > SLOTS_MAX / PAGE_SIZE ||
        !find_slot(&slot, db, db->fd, (uint64_t)rpm_le32(header + 12) * PAGE_SIZE, "Slot", package))
        return NULL;
    at = (uint64_t)slot.first * BLOCK_SIZE;
    if (!mire__rpm_read(db, db->fd, header, BLOCK_SIZE, at) || memcmp(header, "BlbS", 4) != 0 ||
        rpm_le32(header + 4) != package || rpm_le32(header + 12) > HEADER_MAX)
        return NULL;
    *size_out = rpm_le32(header + 12);
    bytes = mire__malloc(*size_out + 1);
    if (bytes && mire__rpm_read(db, db->fd, bytes, *size_out, at + BLOCK_SIZE))
        return bytes;
    mire__free(bytes);
    return NULL;
}

const struct rpm_format mire__rpm_ndb = {
    .file = "Packages.db", .index = "Index.db", .open = open_ndb, .find = find_ndb, .load = load_ndb};
