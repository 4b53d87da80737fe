/*
 * packages_bdb.c - rpm's database in Berkeley DB, of rpm 4.15 and older: the hash table Packages, number to header.
 *
 *     page 0     at 12 magic, 16 version, 20 page size, 25 type 8; at 32 the last page
 *     page       at 16 next page, 20 entries, 22 free space, 25 type; at 26 the places of its items, 2 bytes each. Keys
 *                and values are items in turn, laid from the page's end. An item: 1 and its bytes, or 3, page and size
 *     overflow   type 7: at 22 its size, at 26 that part of a value; the other parts are on the next pages
 *
 * Numbers are in the byte order of the machine that wrote them; one of the other order is not read. The index of file
 * names (Basenames) is not used: all headers are read once, in some 10 ms for 20 MB.
 */
#include "report/packages_rpm_db.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

#define MAGIC        0x061561u
#define VERSION_MIN  7
#define VERSION_MAX  10
#define PAGE_MAX     (64u << 10)
#define PAGE_HEADER  26
#define HEADER_MAX   (32u << 20)
#define PACKAGES_MAX 65536u
#define NAMES_MAX    (8u << 20)

enum page_type { HASH_UNSORTED = 2, OVERFLOW_PAGE = 7, META = 8, HASH = 13 };
enum item_type { KEYDATA = 1, OFFPAGE = 3 };

struct rpm_bdb_package {
    uint32_t page, at; /* of its header: the first overflow page, at 0; or the page and place that have it whole */
    uint32_t size;
};

struct rpm_bdb_name {
    uint32_t hash, package, file;
};

static uint32_t number(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t half(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static bool open_bdb(struct rpm_db *db)
{
    uint8_t meta[72];
    uint32_t size;

    if (!mire__rpm_read(db, db->fd, meta, sizeof(meta), 0) || number(meta + 12) != MAGIC ||
        number(meta + 16) < VERSION_MIN || number(meta + 16) > VERSION_MAX || meta[25] != META)
        return false;
    size = number(meta + 20);
    db->bdb.page_size = size;
    db->bdb.last_page = number(meta + 32);
    return size >= 512 && size <= PAGE_MAX && (size & (size - 1)) == 0;
}

static bool read_page(uint8_t *out, struct rpm_db *db, uint32_t page)
{
    return page <= db->bdb.last_page &&
           mire__rpm_read(db, db->fd, out, db->bdb.page_size, (uint64_t)page * db->bdb.page_size);
}

/* A value that is spread over pages. False: a page is missing, or no part of a value. */
static bool read_parts(uint8_t *out, struct rpm_db *db, uint8_t *page, uint32_t first, uint32_t size)
{
    for (uint32_t at = first, done = 0; done < size; at = number(page + 16)) {
        uint32_t part;

        if (at == 0 || !read_page(page, db, at) || page[25] != OVERFLOW_PAGE)
            return false;
        part = half(page + 22);
        if (part == 0 || part > db->bdb.page_size - PAGE_HEADER || part > size - done)
            return false;
        memcpy(out + done, page + PAGE_HEADER, part);
        done += part;
    }
    return true;
}

static uint8_t *load_bdb(struct rpm_db *db, size_t *size_out, uint32_t package)
{
    const struct rpm_bdb_package *from =
        package < db->bdb.package_count ? &db->bdb.packages[package] : NULL; /* number in the list, not rpm's */
    uint8_t *page = from ? mire__malloc(db->bdb.page_size) : NULL, *out = page ? mire__malloc(from->size) : NULL;
    bool whole = false;

    if (out && from->at == 0)
        whole = read_parts(out, db, page, from->page, from->size);
    else if (out && read_page(page, db, from->page)) {
        memcpy(out, page + from->at, from->size);
        whole = true;
    }
    mire__free(page);
    if (!whole) {
        mire__free(out);
        return NULL;
    }
    *size_out = from->size;
    return out;
}

/* Room for one element more; the list doubles. */
static bool make_room(void **list, size_t count, size_t size, size_t max)
{
    size_t room = count < 64 ? 64 : count;
    void *more;

    if (count >= max || (count > 0 && (count < 64 || (count & (count - 1)))))
        return count < max;
    more = mire__realloc(*list, (count ? 2 * room : room) * size);
    *list = more ? more : *list;
    return more != NULL;
}

/* The item at a place in a page, as a package. False: it is none, or lies outside. */
static bool find_item(struct rpm_bdb_package *out, const struct rpm_db *db, const uint8_t *page,
                      uint32_t number_of_page, uint32_t item)
{
    uint32_t begin = half(page + PAGE_HEADER + 2 * (size_t)item);
    uint32_t end = item ? half(page + PAGE_HEADER + 2 * (size_t)(item - 1)) : db->bdb.page_size;

    if (end > db->bdb.page_size || begin < PAGE_HEADER || begin >= end)
        return false;
    if (page[begin] == KEYDATA)
        *out = (struct rpm_bdb_package){number_of_page, begin + 1, end - begin - 1};
    else if (page[begin] == OFFPAGE && end - begin >= 12)
        *out = (struct rpm_bdb_package){number(page + begin + 4), 0, number(page + begin + 8)};
    else
        return false;
    return out->size > 8 && out->size <= HEADER_MAX; /* that of number 0 is a counter */
}

/* All packages, in the order of the pages. */
static bool list_packages(struct rpm_db *db, uint8_t *page)
{
    for (uint32_t n = 1; n <= db->bdb.last_page && read_page(page, db, n); n++) {
        uint32_t entries = half(page + 20);

        if ((page[25] != HASH && page[25] != HASH_UNSORTED) || entries > (db->bdb.page_size - PAGE_HEADER) / 2)
            continue;
        for (uint32_t item = 1; item < entries; item += 2) {
            struct rpm_bdb_package found;

            if (!find_item(&found, db, page, n, item))
                continue;
            if (!make_room((void **)&db->bdb.packages, db->bdb.package_count, sizeof(found), PACKAGES_MAX))
                return false;
            db->bdb.packages[db->bdb.package_count++] = found;
        }
    }
    return db->bdb.package_count > 0;
}

static void list_names(struct rpm_db *db)
{
    for (uint32_t package = 0; package < db->bdb.package_count; package++) {
        size_t size;
        uint8_t *header = load_bdb(db, &size, package);
        uint32_t count = 0;
        const uint8_t *at = header ? mire__rpm_tag(&count, header, size, MIRE_RPM_BASENAMES) : NULL;

        for (uint32_t file = 0; at && file < count; file++) {
            const uint8_t *zero = memchr(at, 0, (size_t)(header + size - at));

            if (!zero || !make_room((void **)&db->bdb.names, db->bdb.name_count, sizeof(*db->bdb.names), NAMES_MAX))
                break;
            db->bdb.names[db->bdb.name_count++] =
                (struct rpm_bdb_name){(uint32_t)mire__hash_text(MIRE_HASH_START, (const char *)at), package, file};
            at = zero + 1;
        }
        mire__free(header);
    }
}

static size_t find_bdb(struct rpm_db *db, struct rpm_ref *refs, size_t max, const char *name)
{
    uint32_t hash = (uint32_t)mire__hash_text(MIRE_HASH_START, name);
    size_t count = 0;

    if (!db->bdb.listed) {
        uint8_t *page = mire__malloc(db->bdb.page_size);

        db->bdb.listed = true;
        if (page && list_packages(db, page))
            list_names(db);
        mire__free(page);
    }
    for (uint32_t i = 0; i < db->bdb.name_count && count < max; i++)
        if (db->bdb.names[i].hash == hash)
            refs[count++] = (struct rpm_ref){db->bdb.names[i].package, db->bdb.names[i].file};
    return count;
}

static void close_bdb(struct rpm_db *db)
{
    mire__free(db->bdb.packages);
    mire__free(db->bdb.names);
}

const struct rpm_format mire__rpm_bdb = {
    .file = "Packages", .open = open_bdb, .find = find_bdb, .load = load_bdb, .close = close_bdb};
