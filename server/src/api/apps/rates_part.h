/* rates_part.h - RatesTotal of openapi.yaml, as several answers have it. */
#ifndef MIRE_API_RATES_PART_H
#define MIRE_API_RATES_PART_H

#include "json/write.h"
#include "rollup/cell.h"
#include "rows/rates.h"

/* Its members, into the object that is open. */
void part_rates(struct json_writer *w, const struct session_sums *sums);

/* RatesUsers, as the member "users": shares of user days, from rows_session_totals_read. NULL: null, there is no
 * record. */
void part_users(struct json_writer *w, const struct cell_sums *sums);

/* SessionSpreads, as the member "spreads": percentiles of quantities of sessions. NULL: there are no records. */
void part_spreads(struct json_writer *w, const struct cell_sums *sums);

/* The sums of a cell of session records. */
void part_session_sums(struct session_sums *out, const struct cell_sums *sums);

#endif
