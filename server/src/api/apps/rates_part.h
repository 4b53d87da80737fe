/* rates_part.h - RatesTotal of openapi.yaml, as several answers have it. */
#ifndef MIRE_API_RATES_PART_H
#define MIRE_API_RATES_PART_H

#include "json/write.h"
#include "rows/rates.h"

/* Its members, into the object that is open. */
void part_rates(struct json_writer *w, const struct session_sums *sums);

#endif
