/*
 * packages_sqlite.c - rpmdb.sqlite: as much of SQLite's file format (https://sqlite.org/fileformat2.html) as it takes.
 *
 *     interior page    12 bytes, then for each cell a child and a key; the last child is in the page's header
 *     leaf page         8 bytes, then for each cell a row, or a key of the index with the number of its row
 *     a long row        its begin in the cell, the rest in a chain of pages
 *     a row             the types of its columns, then their values
 */
#include "report/packages_rpm_db.h"

#include "base/alloc.h"

#include <string.h>

#define FILE_HEADER 100
#define DEPTH_MAX   20
#define ROW_MAX     (32u << 20)

enum page_kind { INDEX_INTERIOR = 2, TABLE_INTERIOR = 5, INDEX_LEAF = 10, TABLE_LEAF = 13 };

struct page {
    uint8_t *bytes;
    uint32_t size;   /* without the reserved bytes at its end */
    uint32_t header; /* offset: the file's header comes before that of page 1 */
    uint32_t cells;
    enum page_kind kind;
};

static bool is_interior(const struct page *page)
{
    return page->kind == INDEX_INTERIOR || page->kind == TABLE_INTERIOR;
}

static void close_page(struct page *page)
{
    mire__free(page->bytes);
}

static bool open_page(struct page *out, struct rpm_db *db, uint32_t number)
{
    uint32_t size = db->sqlite.page_size;

    *out = (struct page){.bytes = number ? mire__calloc(1, size + 4) : NULL, .size = db->sqlite.usable};
    if (!out->bytes || !mire__rpm_read(db, db->fd, out->bytes, size, (uint64_t)(number - 1) * size)) {
        close_page(out);
        return false;
    }
    out->header = number == 1 ? FILE_HEADER : 0;
    out->kind = out->bytes[out->header];
    out->cells = rpm_be16(out->bytes + out->header + 3);
    if ((out->kind == INDEX_LEAF || out->kind == TABLE_LEAF || is_interior(out)) &&
        out->header + (is_interior(out) ? 12 : 8) + out->cells * 2 <= out->size)
        return true;
    close_page(out);
    return false;
}

/* The bytes of a page from that cell's begin on; those behind the page, four zeros, if it lies outside. */
static const uint8_t *cell_at(const struct page *page, uint32_t cell)
{
    uint32_t offset = rpm_be16(page->bytes + page->header + (is_interior(page) ? 12 : 8) + cell * 2);

    return page->bytes + (offset + 4 <= page->size ? offset : page->size);
}

static uint32_t last_child(const struct page *page)
{
    return rpm_be32(page->bytes + page->header + 8);
}

/* A number of 7 bits a byte, 8 in the ninth. Returns the bytes behind it; NULL: it goes beyond the end. */
static const uint8_t *read_varint(uint64_t *out, const uint8_t *at, const uint8_t *end)
{
    *out = 0;
    for (int i = 0; at && i < 9 && at < end; i++, at++) {
        if (i == 8) {
            *out = *out << 8 | *at;
            return at + 1;
        }
        *out = *out << 7 | (*at & 0x7f);
        if (!(*at & 0x80))
            return at + 1;
    }
    return NULL;
}

struct column {
    uint64_t type; /* 1 to 9 are numbers, even ones from 12 on blobs, odd ones from 13 on texts */
    const uint8_t *bytes;
    size_t size;
};

static size_t column_size(uint64_t type)
{
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

    return type < 12 ? sizes[type] : (size_t)((type - 12) / 2);
}

/* A row's column, cut where `row` ends: the begin of a cell does not hold all of it. False: the row has no such
 * column. */
static bool read_column(struct column *out, const uint8_t *row, size_t size, unsigned number)
{
    const uint8_t *end = row + size, *type, *types_end;
    uint64_t header, offset;

    type = read_varint(&header, row, end);
    if (!type || header > size)
        return false;
    offset = header;
    types_end = row + header;
    for (unsigned i = 0; (type = read_varint(&out->type, type, types_end)); i++) {
        out->size = column_size(out->type);
        if (i == number) {
            out->bytes = row + (offset < size ? offset : size);
            out->size = out->size < size - (size_t)(out->bytes - row) ? out->size : size - (size_t)(out->bytes - row);
            return true;
        }
        if (out->size > ROW_MAX)
            return false;
        offset += out->size;
    }
    return false;
}

/* A column that is a number below 2^32. */
static bool read_number(uint32_t *out, const uint8_t *row, size_t size, unsigned number)
{
    struct column column;
    uint64_t value = 0;

    if (!read_column(&column, row, size, number) || column.type > 9 || column.type == 7 || column.type == 0)
        return false;
    if (column.type >= 8)
        value = column.type - 8;
    for (size_t i = 0; i < column.size; i++)
        value = value << 8 | column.bytes[i];
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

/* How many of a row's bytes the cell has itself. */
static size_t local_size(const struct page *page, uint64_t size)
{
    uint32_t usable = page->size;
    uint32_t most = page->kind == TABLE_LEAF ? usable - 35 : (usable - 12) * 64 / 255 - 23;
    uint32_t least = (usable - 12) * 32 / 255 - 23;
    uint32_t local = least + (uint32_t)((size - least) % (usable - 4));

    if (size <= most)
        return (size_t)size;
    return local <= most ? local : least;
}

/* Go on reading a row in the chain of pages. */
static bool read_chain(struct rpm_db *db, uint8_t *out, size_t size, uint32_t next)
{
    uint32_t room = db->sqlite.usable - 4;
    uint8_t link[4];

    for (size_t part; size > 0; out += part, size -= part, next = rpm_be32(link)) {
        uint64_t at = (uint64_t)(next - 1) * db->sqlite.page_size;

        part = size < room ? size : room;
        if (next == 0 || !mire__rpm_read(db, db->fd, link, sizeof(link), at) ||
            !mire__rpm_read(db, db->fd, out, part, at + sizeof(link)))
            return false;
    }
    return true;
}

/* The whole row of a table's cell, in memory that mire__free frees. */
static uint8_t *read_row(size_t *size_out, struct rpm_db *db, const struct page *page, const uint8_t *at, uint64_t size)
{
    const uint8_t *end = page->bytes + page->size;
    size_t local = local_size(page, size);
    uint8_t *row = NULL;

    if (size > ROW_MAX || local + (local < size ? 4 : 0) > (size_t)(end - at))
        return NULL;
    row = mire__malloc((size_t)size + 1);
    if (!row)
        return NULL;
    memcpy(row, at, local);
    *size_out = (size_t)size;
    if (local == size || read_chain(db, row + local, (size_t)size - local, rpm_be32(at + local)))
        return row;
    mire__free(row);
    return NULL;
}

/* The child that leads to a row of a table. */
static uint32_t child_of(const struct page *page, uint64_t number)
{
    for (uint32_t i = 0; i < page->cells; i++) {
        const uint8_t *cell = cell_at(page, i);
        uint64_t key;

        if (!read_varint(&key, cell + 4, page->bytes + page->size))
            return 0;
        if (number <= key)
            return rpm_be32(cell);
    }
    return last_child(page);
}

static uint8_t *row_in_leaf(size_t *size_out, struct rpm_db *db, const struct page *page, uint64_t number)
{
    for (uint32_t i = 0; page->kind == TABLE_LEAF && i < page->cells; i++) {
        const uint8_t *end = page->bytes + page->size, *at = cell_at(page, i);
        uint64_t size, key;

        at = read_varint(&size, at, end);
        at = read_varint(&key, at, end);
        if (at && key == number)
            return read_row(size_out, db, page, at, size);
    }
    return NULL;
}

/* A table's row by its number; NULL: there is none. */
static uint8_t *find_row(size_t *size_out, struct rpm_db *db, uint32_t tree, uint64_t number)
{
    uint8_t *row = NULL;
    struct page page;

    for (int depth = 0; depth < DEPTH_MAX && open_page(&page, db, tree); depth++) {
        bool leads_on = page.kind == TABLE_INTERIOR;

        tree = leads_on ? child_of(&page, number) : 0;
        if (!leads_on)
            row = row_in_leaf(size_out, db, &page, number);
        close_page(&page);
        if (!leads_on)
            break;
    }
    return row;
}

/* Look through the table of tables for the three trees. */
static void find_trees(struct rpm_db *db, uint32_t number, int depth)
{
    struct page page;

    if (depth == DEPTH_MAX || !open_page(&page, db, number))
        return;
    for (uint32_t i = 0; i < page.cells; i++) {
        const uint8_t *end = page.bytes + page.size, *at = cell_at(&page, i);
        struct column name;
        uint64_t size, key;
        uint32_t tree;

        if (page.kind == TABLE_INTERIOR)
            find_trees(db, rpm_be32(at), depth + 1);
        if (page.kind != TABLE_LEAF || !(at = read_varint(&size, at, end)) || !(at = read_varint(&key, at, end)))
            continue;
        size = size < (uint64_t)(end - at) ? size : (uint64_t)(end - at);
        if (!read_column(&name, at, (size_t)size, 1) || !read_number(&tree, at, (size_t)size, 3))
            continue;
        if (name.size == 8 && memcmp(name.bytes, "Packages", 8) == 0)
            db->sqlite.packages = tree;
        if (name.size == 9 && memcmp(name.bytes, "Basenames", 9) == 0)
            db->sqlite.names = tree;
        if (name.size == 17 && memcmp(name.bytes, "Basenames_key_idx", 17) == 0)
            db->sqlite.names_by_key = tree;
    }
    if (page.kind == TABLE_INTERIOR)
        find_trees(db, last_child(&page), depth + 1);
    close_page(&page);
}

static bool open_sqlite(struct rpm_db *db)
{
    uint8_t header[FILE_HEADER];

    if (!mire__rpm_read(db, db->fd, header, sizeof(header), 0) || memcmp(header, "SQLite format 3", 16) != 0)
        return false;
    db->sqlite.page_size = rpm_be16(header + 16) == 1 ? 65536 : rpm_be16(header + 16);
    db->sqlite.usable = db->sqlite.page_size - header[20];
    if (db->sqlite.page_size < 512 || db->sqlite.usable < 480 || rpm_be32(header + 56) != 1) /* 1: UTF-8 */
        return false;
    find_trees(db, 1, 0);
    return db->sqlite.packages && db->sqlite.names && db->sqlite.names_by_key;
}

/* Rows of a name, as the index tells them. */
struct names {
    const char *name;
    size_t length;
    struct rpm_ref *refs;
    size_t count, max;
};

/* How a key of the index compares with the name: numbers come before texts, blobs after them. */
static int compare_key(const struct column *key, const struct names *names)
{
    size_t common = key->size < names->length ? key->size : names->length;
    int order = memcmp(key->bytes, names->name, common);

    if (key->type < 12 || key->type % 2 == 0)
        return key->type < 12 ? -1 : 1;
    if (order != 0)
        return order;
    return key->size < names->length ? -1 : key->size > names->length;
}

static void add_name(struct names *names, struct rpm_db *db, uint32_t number)
{
    size_t size;
    uint8_t *row = find_row(&size, db, db->sqlite.names, number);
    struct rpm_ref *ref = &names->refs[names->count];

    if (row && read_number(&ref->package, row, size, 1) && read_number(&ref->file, row, size, 2))
        names->count++;
    mire__free(row);
}

/* Add the rows of the name in that part of the index. */
static void find_names(struct names *names, struct rpm_db *db, uint32_t number, int depth)
{
    struct page page;
    bool beyond = false;

    if (depth == DEPTH_MAX || !open_page(&page, db, number))
        return;
    for (uint32_t i = 0; i < page.cells && !beyond && names->count < names->max; i++) {
        const uint8_t *end = page.bytes + page.size, *cell = cell_at(&page, i), *at;
        struct column key;
        uint64_t size;
        uint32_t row;
        int order;

        at = read_varint(&size, page.kind == INDEX_INTERIOR ? cell + 4 : cell, end);
        if (!at)
            break;
        size = local_size(&page, size) < (size_t)(end - at) ? local_size(&page, size) : (size_t)(end - at);
        if (!read_column(&key, at, (size_t)size, 0))
            break;
        order = compare_key(&key, names);
        if (page.kind == INDEX_INTERIOR && order >= 0)
            find_names(names, db, rpm_be32(cell), depth + 1);
        if (order == 0 && names->count < names->max && read_number(&row, at, (size_t)size, 1))
            add_name(names, db, row);
        beyond = order > 0;
    }
    if (page.kind == INDEX_INTERIOR && !beyond)
        find_names(names, db, last_child(&page), depth + 1);
    close_page(&page);
}

static size_t find_sqlite(struct rpm_db *db, struct rpm_ref *refs, size_t max, const char *name)
{
    struct names names = {.name = name, .length = strlen(name), .refs = refs, .max = max};

    find_names(&names, db, db->sqlite.names_by_key, 0);
    return names.count;
}

static uint8_t *load_sqlite(struct rpm_db *db, size_t *size_out, uint32_t package)
{
    size_t size;
    uint8_t *row = find_row(&size, db, db->sqlite.packages, package);
    struct column blob;

    if (row && read_column(&blob, row, size, 1) && blob.type >= 12) {
        memmove(row, blob.bytes, blob.size);
        *size_out = blob.size;
        return row;
    }
    mire__free(row);
    return NULL;
}

const struct rpm_format mire__rpm_sqlite = {
    .file = "rpmdb.sqlite", .open = open_sqlite, .find = find_sqlite, .load = load_sqlite};
