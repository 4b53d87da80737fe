/*
 * symbol.h - uploaded debug files, kept in pieces.
 */
#ifndef MIRE_PG_SYMBOL_H
#define MIRE_PG_SYMBOL_H

#include "pg/pg.h"

#define MIRE_SYMBOL_PIECE (1u << 20) /* bytes of a file in one piece, before compression */

struct symbol_info {
    bool debug; /* has DWARF; otherwise names only */
    int64_t size_bytes;
};

/* The best uploaded file of a build id: 1 found, 0 there is none, below zero a fault. */
int pg_symbol_find(struct symbol_info *out, struct pg_tx *tx, struct pg_bytes build_id);

/* How many files have come so far. */
int pg_symbol_arrivals(int64_t *count_out, struct pg_tx *tx);

/* Piece `part` of a file, from 0, as a zstd frame. Rows are freed by the caller; no row: there is no such piece. 0 or a
 * fault. */
int pg_symbol_piece(struct pg_rows **out, struct pg_tx *tx, struct pg_bytes build_id, bool debug, int32_t part);

/*
 * Begin to store a file, in place of one with the same build id and kind; then add its pieces in order. The caller
 * commits.
 */
int pg_symbol_begin(struct pg_tx *tx, struct pg_bytes build_id, bool debug, const char *arch, const char *name,
                    int64_t size_bytes);
int pg_symbol_add(struct pg_tx *tx, struct pg_bytes build_id, bool debug, int32_t part, struct pg_bytes frame);

#endif
