/*
 * rules.h - the meaning of an answer, and the time of the next attempt. Pure. Private to upload/.
 *
 *     2xx that names the report              sent; any other 2xx is not mired's: again later
 *     0 (no answer), 3xx, 408, 425, 429, 5xx  again later
 *     other 4xx                              refused: the same bytes would be refused again
 */
#ifndef MIRE_UPLOAD_RULES_H
#define MIRE_UPLOAD_RULES_H

#include <stdbool.h>
#include <stddef.h>
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
 * Does mired confirm this report? Its answer is {"report_id":"<id>"}. A captive portal or a proxy cannot know the id,
 * which is sent compressed.
 *
 *   text  untrusted; `size` bytes
 *   id    NULL: of a body of another format, from which the server makes reports with ids of its own ("report_ids")
 */
bool mire__upload_is_ack(const char *text, size_t size, const char *id);

/*
 * The wait that the server asks for, in milliseconds, at most a day.
 *
 *   retry_after  value of the header
 *   date         value of the Date header, "": none. A date in retry_after is compared with it, because the device's
 *                clock may be wrong
 *   now_ms       the device's clock
 *
 * False: no valid wait.
 */
bool mire__upload_asked_ms(uint64_t *wait_ms_out, const char *retry_after, const char *date, uint64_t now_ms);

/*
 * The rest of a wait, in milliseconds. The wall clock may have jumped since: never more than the whole wait, and at
 * most a day.
 */
uint64_t mire__upload_left_ms(uint64_t until_ms, uint64_t said_ms, uint64_t now_ms);

/*
 * The wait after `failures` failures in a row, >= 1, in milliseconds: doubled from first_ms up to limit_ms, then
 * shortened by `random` to between half and all, so that devices do not return all at once.
 */
uint64_t mire__upload_backoff_ms(uint32_t failures, uint32_t first_ms, uint32_t limit_ms, uint32_t random);

#define MIRE_CLOCK_LINE_BYTES 32

/* Write the header with the device's clock (wire/clock.h). `cap` is at least MIRE_CLOCK_LINE_BYTES. */
void mire__upload_clock(char *line, size_t cap, uint64_t wall_ms);

#define MIRE_METERED_BYTES (4u << 10) /* a report up to this size is small */

/* May a report of this size and enum store_value be sent over a metered network? */
bool mire__upload_on_metered(uint64_t bytes, uint32_t value);

#endif
