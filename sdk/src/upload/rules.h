/*
 * rules.h - what an answer means, and when to try again. Pure. Private to upload/.
 *
 *     2xx                                    sent
 *     0 (no answer), 3xx, 408, 425, 429, 5xx  again later
 *     other 4xx                              refused: the same bytes will not be taken later either
 */
#ifndef MIRE_UPLOAD_RULES_H
#define MIRE_UPLOAD_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum upload_verdict { UPLOAD_SENT, UPLOAD_LATER, UPLOAD_REFUSED };

enum upload_verdict mire__upload_verdict(int status);

/*
 * A Retry-After header's value: seconds, or a date in one of HTTP's three forms (RFC 9110, 5.6.7).
 *
 *   at_ms_out  wall clock; untouched unless true
 *   now_ms     wall clock
 */
bool mire__upload_parse_retry_after(uint64_t *at_ms_out, const char *text, uint64_t now_ms);

/*
 * How long to wait after `failures` failures in a row, >= 1: doubles from 2 s to 15 min, and of that a share between
 * half and all, chosen by `random`, so that a crowd of devices does not come back at one instant. Milliseconds.
 */
uint64_t mire__upload_backoff_ms(uint32_t failures, uint32_t random);

#endif
