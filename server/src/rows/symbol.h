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
    uint8_t id[MIRE_BUILD_ID_MAX]; /* the file's own; the requested id may be another name of it */
    size_t id_len;
    bool debug; /* has DWARF; otherwise names only */
    int64_t size_bytes;
    uint8_t hash[32];     /* BLAKE2b-256 of the contents */
    uint64_t contents_id; /* its first bytes, never 0 */
    int32_t app_id;       /* whose it is, or MIRE_SYMBOL_OF_ALL */
    bool is_unused;       /* for a week, as far as is noted: rows_symbol_used */
};

#define MIRE_SYMBOL_OF_ALL 0 /* the app of files that the server fetched: they name frames of every app */

/*
 * The best file of a build id, or of the mapping known by it, among those that the app sent and those of all; of two as
 * good ones the app's own. 1 found, 0 there is none, below zero a fault.
 */
int rows_symbol_find(struct symbol_info *out, struct pg_tx *tx, int32_t app_id, struct pg_bytes build_id);

/* Note that a report has frames of the file. Another transaction that notes it is not waited for. 0 or a fault. */
int rows_symbol_used(struct pg_tx *tx, const struct symbol_info *info);

/* The number of files that have arrived so far, and a part that is another each day. */
int rows_symbol_arrivals(int64_t *count_out, struct pg_tx *tx);

/*
 * Piece `part` (from 0) of contents, as a zstd frame; no row if there is none. The caller frees the rows. 0 or a fault.
 */
int rows_symbol_piece(struct pg_rows **out, struct pg_tx *tx, struct pg_bytes hash, int32_t part);

struct symbol_file {
    int32_t app_id; /* that sent it, or MIRE_SYMBOL_OF_ALL */
    struct pg_bytes build_id;
    bool debug;
    const char *arch, *name;
    int64_t size_bytes;
    struct pg_bytes hash; /* BLAKE2b-256 of its contents */
    const char *defect;   /* which part is damaged; "": none, as far as is known */
    const char *depth;    /* level of detail: "names", "lines", "dwarf"; "": unknown */
    const char *instead;  /* which file is used in its place and why, for people; "" or NULL: this one is used */
};

/*
 * Begin to store a file in place of the app's one with the same build id and kind; then put its contents. The caller
 * commits. 0, 1: the stored file is better and stays, or a fault. An undamaged file is better than a damaged one, then
 * the deeper one, then the newer one.
 */
int rows_symbol_begin(struct pg_tx *tx, const struct symbol_file *file);

/* The app's stored file of a build id and kind. 1, 0: there is none, below zero a fault. Texts lie in the arena. */
int rows_symbol_there(struct symbol_file *out, struct pg_tx *tx, struct arena *arena, const struct symbol_file *like);

/* The app's stored file with these contents. 1, 0: there is none, below zero a fault. Texts and ids lie in the arena. */
int rows_symbol_by_hash(struct symbol_file *out, struct pg_tx *tx, struct arena *arena, int32_t app_id,
                        struct pg_bytes hash);

/* Add the contents of a file that was begun, unless they are there. */
int rows_symbol_put(struct pg_tx *tx, struct pg_bytes hash, const void *bytes, size_t len);

/*
 * Delete the files that no report had frames of for so many days (0: none), and contents that no file has, unless files
 * are being stored now. Upkeep calls it.
 *
 *   deleted_out  files
 *
 * 0 or a fault.
 */
int rows_symbol_sweep(int64_t *deleted_out, struct pg_tx *tx, int32_t unused_days);

/* Make a mapping that of a version of an app, found by mapping_id too; it replaces an earlier one. */
struct symbol_version {
    int32_t app_id;
    const char *version, *build;
    struct pg_bytes alias;
};
int rows_symbol_version(struct pg_tx *tx, struct pg_bytes build_id, const struct symbol_version *version);

/* The source of a file that the server fetched. */
int rows_symbol_source(struct pg_tx *tx, struct pg_bytes build_id, bool debug, const char *source);

/* A module without a debug file whose next search is due. */
struct symbol_wanted {
    uint8_t id[MIRE_BUILD_ID_MAX];
    size_t id_len;
    char name[256];
    int64_t looks; /* this one included */
};

/*
 * Take the next due module for ten minutes. 1, 0: none is due, below zero a fault. Then record the answer, and the time
 * of the next search.
 */
int rows_symbol_wanted(struct symbol_wanted *out, struct pg_tx *tx);
int rows_symbol_answer(struct pg_tx *tx, struct pg_bytes build_id, const char *answer, int64_t again_s);

/* How many installations lack the module's debug file; counting ends at `enough`. 0 or a fault. */
int rows_symbol_installs(int64_t *out, struct pg_tx *tx, struct pg_bytes build_id, int64_t enough);

/*
 * Modules without a debug file whose search is not due: build id, and when a directory had it last, or null.
 *
 *   most     rows
 *   again_s  the value given to rows_symbol_answer then
 *
 * 0 or a fault. rows_symbol_due makes one due now.
 */
int rows_symbols_sought(struct pg_rows **out, struct pg_tx *tx, int64_t most, int64_t again_s);
int rows_symbol_due(struct pg_tx *tx, struct pg_bytes build_id);

struct symbol_there {
    bool missing; /* there is no file of that build id, or `debug` is wanted and it has names only */
    bool wanting; /* there is one, and a file other than `hash` may serve better: it is damaged, has lines only where
                     `debug` is wanted, or reports still lack it or the program that it is a split file of */
    uint8_t hash[32]; /* of the stored contents, if wanting */
    char defect[240]; /* their damaged part, if wanting */
};

/* Which of these files should the app send? `out` has an entry a file. */
int rows_symbols_missing(struct symbol_there *out, struct pg_tx *tx, int32_t app_id, const struct pg_bytes *ids,
                         const bool *debug, size_t count);

/* A file that is sent in parts, by the BLAKE2b-256 of the whole file. */
struct symbol_upload {
    int32_t app_id; /* app of the key: an upload is known to it alone */
    struct pg_bytes hash;
    int64_t size_bytes;
    int64_t have_bytes;
    const char *name;
};

/*
 * Begin or continue an upload: `have_bytes` is filled in, and the row is locked until commit. 0, 1: the size differs
 * from the one given before for that hash, or a fault.
 */
int rows_upload_lock(struct symbol_upload *upload, struct pg_tx *tx);

/* The bytes of an upload that have arrived into `have_bytes`; 0 if it is unknown. 0 or a fault. */
int rows_upload_have(struct symbol_upload *upload, struct pg_tx *tx);

/* Append a piece that had `len` bytes before compression; its number follows from have_bytes. */
int rows_upload_add(struct pg_tx *tx, struct symbol_upload *upload, struct pg_bytes frame, size_t len);

/* rows_symbol_piece for an upload. */
int rows_upload_piece(struct pg_rows **out, struct pg_tx *tx, const struct symbol_upload *upload, int32_t part);

/* rows_symbol_put of a complete upload. */
int rows_symbol_take(struct pg_tx *tx, const struct symbol_upload *upload);

/* Delete an upload. */
int rows_upload_drop(struct pg_tx *tx, const struct symbol_upload *upload);

#endif
