/*
 * symbol.h - uploaded debug files, kept in pieces.
 */
#ifndef MIRE_ROWS_SYMBOL_H
#define MIRE_ROWS_SYMBOL_H

#include "base/arena.h"
#include "model/report.h"
#include "pg/pg.h"

#define MIRE_SYMBOL_PIECE (1u << 20) /* bytes of a file in one piece, before compression */

struct symbol_info {
    uint8_t id[MIRE_BUILD_ID_MAX]; /* the file's own: what was asked for may be another name of it */
    size_t id_len;
    bool debug; /* has DWARF; otherwise names only */
    int64_t size_bytes;
    int64_t came_us;      /* microseconds since 1970 UTC */
    uint64_t contents_id; /* another number for other contents; never 0 */
};

/* The best uploaded file of a build id, or of the mapping that is known by it: 1 found, 0 there is none, below zero a
 * fault. */
int rows_symbol_find(struct symbol_info *out, struct pg_tx *tx, struct pg_bytes build_id);

/* How many files have come so far. */
int rows_symbol_arrivals(int64_t *count_out, struct pg_tx *tx);

/* Piece `part` of a file, from 0, as a zstd frame. Rows are freed by the caller; no row: there is no such piece. 0 or a
 * fault. */
int rows_symbol_piece(struct pg_rows **out, struct pg_tx *tx, struct pg_bytes build_id, bool debug, int32_t part);

struct symbol_file {
    struct pg_bytes build_id;
    bool debug;
    const char *arch, *name;
    int64_t size_bytes;
    struct pg_bytes hash; /* BLAKE2b-256 of its contents */
    const char *defect;   /* what of it is damaged; "": nothing is, as far as is known */
    const char *depth;    /* what it tells of the code: "names", "lines", "dwarf", "": unknown */
    const char *instead;  /* what is used in its place, and why, for people; "" or NULL: it is used itself */
};

/*
 * Begin to store a file, in place of one with the same build id and kind; then add its pieces in order. The caller
 * commits. 0, 1: what is there is better, and stays, or a fault. What is whole is better than what is damaged; of two
 * that are, or are not, the deeper one; of equals the newer.
 */
int rows_symbol_begin(struct pg_tx *tx, const struct symbol_file *file);

/* The file of a build id and kind that is there: 1, 0 there is none, below zero a fault. Texts lie in the arena. */
int rows_symbol_there(struct symbol_file *out, struct pg_tx *tx, struct arena *arena, struct pg_bytes build_id,
                      bool debug);
int rows_symbol_add(struct pg_tx *tx, struct pg_bytes build_id, bool debug, int32_t part, struct pg_bytes frame);

/* An app sent a file of these contents: it may see it from now on. 0 or a fault. */
int rows_symbol_own(struct pg_tx *tx, const struct symbol_file *file, int32_t app_id);

/* A file of these contents: 1, 0 there is none, below zero a fault. Texts and ids lie in the arena. */
int rows_symbol_by_hash(struct symbol_file *out, struct pg_tx *tx, struct arena *arena, struct pg_bytes hash);

/* Add all pieces of a file that was begun. */
int rows_symbol_put(struct pg_tx *tx, struct pg_bytes build_id, bool debug, const void *bytes, size_t len);

/* A mapping is that of a version of an app: it is found by mapping_id too. In place of an earlier one. */
struct symbol_version {
    int32_t app_id;
    const char *version, *build;
    struct pg_bytes alias;
};
int rows_symbol_version(struct pg_tx *tx, struct pg_bytes build_id, const struct symbol_version *version);

/* Where a file came from, if not by upload. */
int rows_symbol_source(struct pg_tx *tx, struct pg_bytes build_id, bool debug, const char *source);

/* A module whose debug file reports miss, and that is due to be looked for. */
struct symbol_wanted {
    uint8_t id[MIRE_BUILD_ID_MAX];
    size_t id_len;
    char name[256];
    int64_t looks; /* this one included */
};

/* Take the next one for ten minutes: 1, 0 none is due, below zero a fault. Then what came of it, and when it is due
 * again. */
int rows_symbol_wanted(struct symbol_wanted *out, struct pg_tx *tx);
int rows_symbol_answer(struct pg_tx *tx, struct pg_bytes build_id, const char *answer, int64_t again_s);

/*
 * Those that are missing and not due: build id, and when it was found in a directory the last time, or null.
 *
 *   most     rows
 *   again_s  as it was told to rows_symbol_answer then
 *
 * 0 or a fault. rows_symbol_due: that one is due now.
 */
int rows_symbols_sought(struct pg_rows **out, struct pg_tx *tx, int64_t most, int64_t again_s);
int rows_symbol_due(struct pg_tx *tx, struct pg_bytes build_id);

/* Put pieces of an upload that is whole into the file that was begun. */
int rows_symbol_take(struct pg_tx *tx, struct pg_bytes build_id, bool debug, struct pg_bytes hash);

struct symbol_there {
    bool missing; /* there is no file of that build id, or only names where `debug` is asked for */
    bool wanting; /* there is, and yet it is damaged, has lines alone where `debug` is asked for, or reports miss it,
                     or the program it is a split file of: what is not `hash` may serve better */
    uint8_t hash[32]; /* of the contents that are there, if wanting */
    char defect[240]; /* what of them is damaged, if wanting */
};

/* Which of these files are missing; `out` has one a file. */
int rows_symbols_missing(struct symbol_there *out, struct pg_tx *tx, const struct pg_bytes *ids, const bool *debug,
                         size_t count);

/* A file that is sent in parts, by the BLAKE2b-256 of the whole. */
struct symbol_upload {
    struct pg_bytes hash;
    int64_t size_bytes;
    int64_t have_bytes;
    const char *name;
};

/*
 * Begin an upload, or go on with it: `have_bytes` is filled in, and the row is locked until commit. 0, 1: another size
 * was told for that hash, or a fault.
 */
int rows_upload_lock(struct symbol_upload *upload, struct pg_tx *tx);

/* How much of an upload has come; 0 if nothing is known of it. */
int rows_upload_have(int64_t *have_out, struct pg_tx *tx, struct pg_bytes hash);

/* Add a piece, of `len` bytes as it was, behind what there is; its number follows from have_bytes. */
int rows_upload_add(struct pg_tx *tx, struct symbol_upload *upload, struct pg_bytes frame, size_t len);

/* As rows_symbol_piece, of an upload. */
int rows_upload_piece(struct pg_rows **out, struct pg_tx *tx, struct pg_bytes hash, int32_t part);

/* Forget an upload. */
int rows_upload_drop(struct pg_tx *tx, struct pg_bytes hash);

#endif
