/*
 * read_sql.h - what the statements of read_*.c share.
 *
 * Parameters 1 to 5 of every statement about a view are: $1 app, $2 from, $3 to, $4 versions wanted, $5 versions not
 * wanted; statements about counters have the slots as $6, so that their index is entered with slot and hour.
 */
#ifndef MIRE_PG_READ_SQL_H
#define MIRE_PG_READ_SQL_H

#include "model/view.h"
#include "pg/pg.h"

/* clang-format off */
#define IN_VERSIONS \
    "version_id IN (SELECT version_id FROM version WHERE app_id = $1" \
    " AND (cardinality($4::text[]) = 0 OR version = ANY ($4)) AND version <> ALL ($5::text[]))"
#define HANG_IN_VIEW "app_id = $1 AND received_at >= $2 AND received_at < $3 AND " IN_VERSIONS
#define HOUR_IN_VIEW "app_id = $1 AND slot = ANY ($6::smallint[]) AND hour >= $2 AND hour < $3 AND " IN_VERSIONS
#define IS_WANTED(column, with, without) \
    "(cardinality(" with "::text[]) = 0 OR " column " = ANY (" with ")) AND " column " <> ALL (" without "::text[])"

#define FILTER_PARAMS(f) PG_TEXTS((f)->with, (f)->with_count), PG_TEXTS((f)->without, (f)->without_count)
#define VIEW_PARAMS(v) \
    PG_INT4((v)->app), PG_TIME((v)->span.from_s * 1000000), PG_TIME((v)->span.to_s * 1000000), \
    FILTER_PARAMS(&(v)->version)
#define SLOT_PARAM PG_INT2S(read_slots, MIRE_SLOT_COUNT)
/* clang-format on */

extern const int16_t read_slots[MIRE_SLOT_COUNT];

#endif
