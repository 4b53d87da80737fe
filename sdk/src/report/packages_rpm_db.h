/*
 * packages_rpm_db.h - the three formats of rpm's database behind one door: by a file's base name to the packages that
 * have such a file, and from a package's number to its header. Private to report/.
 *
 *     sqlite   rpmdb.sqlite              tables Packages and Basenames, an index on Basenames by name
 *     ndb      Packages.db, Index.db     a file of headers, and hash tables by tag
 *     bdb      Packages                  Berkeley DB: a hash table of headers
 *
 * Every length and offset in the files is checked, and one report reads MIRE_RPM_READ_MAX bytes at most: a damaged
 * database gives fewer answers. A transaction of rpm that is under way may not be in the files yet.
 *
 * Thread: one at a time for each `struct rpm_db`.  Signal handler: no.
 */
#ifndef MIRE_REPORT_PACKAGES_RPM_DB_H
#define MIRE_REPORT_PACKAGES_RPM_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_RPM_READ_MAX (256u << 20)

/* File number `file` of package number `package`. */
struct rpm_ref {
    uint32_t package, file;
};

struct rpm_db {
    const struct rpm_format *format;
    int fd;          /* rpmdb.sqlite, or Packages.db */
    int index;       /* Index.db; -1 in sqlite */
    uint64_t left;   /* bytes that may still be read */
    uint8_t *loaded; /* the header of the package looked at last */
    size_t loaded_size;
    uint32_t loaded_package;
    union {
        struct {
            uint32_t page_size, usable;
            uint32_t packages, names, names_by_key; /* first pages of the trees; 0: there is none */
        } sqlite;
        struct {
            uint32_t slots;              /* of the hash table, a power of two */
            uint32_t tag;                /* bits of a key's offset that are bits of its hash */
            uint64_t at, keys, keys_end; /* in Index.db: the table, the keys behind it */
        } ndb;
        struct {
            uint32_t page_size, last_page;
            bool listed; /* the headers have been read */
            uint32_t package_count, name_count;
            struct rpm_bdb_package *packages;
            struct rpm_bdb_name *names;
        } bdb;
    };
};

struct rpm_format {
    const char *file, *index;        /* names in the database's folder; index may be NULL */
    bool (*open)(struct rpm_db *db); /* read what the union holds; fd and index are open */
    size_t (*find)(struct rpm_db *db, struct rpm_ref *refs, size_t max, const char *name); /* count of refs */
    uint8_t *(*load)(struct rpm_db *db, size_t *size_out, uint32_t package); /* mire__free frees it; NULL: not there */
    void (*close)(struct rpm_db *db); /* free what the union holds; NULL: nothing */
};

extern const struct rpm_format mire__rpm_sqlite, mire__rpm_ndb, mire__rpm_bdb;

/* Read exactly that many bytes. False: they are not there, or the question has read enough. */
bool mire__rpm_read(struct rpm_db *db, int fd, void *out, size_t size, uint64_t offset);

#define MIRE_RPM_BASENAMES 1117

/* The begin of a tag's data in a header, and its number of values. NULL: the header has no such tag. */
const uint8_t *mire__rpm_tag(uint32_t *count_out, const uint8_t *header, size_t size, uint32_t tag);

static inline uint32_t rpm_be16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t rpm_be32(const uint8_t *at)
{
    return rpm_be16(at) << 16 | rpm_be16(at + 2);
}

static inline uint32_t rpm_le32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

#endif
