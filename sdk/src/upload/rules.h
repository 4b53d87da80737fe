/*
 * rules.h - what an answer means, and when to try again. Pure. Private to upload/.
 *
 *     2xx that names the report              sent; any other 2xx is somebody else's answer: again later
 *     0 (no answer), 3xx, 408, 425, 429, 5xx  again later
 *     other 4xx                              refused: the same bytes will not be taken later either
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
 * Is it mired that says it holds this report? Its answer is {"report_id":"<id>"}; a captive portal, or a proxy that
 * answers in its place, cannot know the id, which is sent compressed.
 *
 *   text  untrusted; `size` bytes
 */
bool mire__upload_is_ack(const char *text, size_t size, const char *id);

/*
 * How long the server wants to be left alone, in milliseconds; a day at most, whatever it says.
 *
 *   retry_after  value of the header
 *   date         value of the Date header, "" if there was none: where it can be read, a date is taken by that clock,
 *                for the device's may be wrong
 *   now_ms       the device's
 *
 * False: there is nothing to go by.
 */
bool mire__upload_asked_ms(uint64_t *wait_ms_out, const char *retry_after, const char *date, uint64_t now_ms);

/*
 * How much is left of a wait that was asked for on the wall clock, which may have jumped since: never more than was
 * asked for, and a day at most. Milliseconds.
 */
uint64_t mire__upload_left_ms(uint64_t until_ms, uint64_t said_ms, uint64_t now_ms);

/*
 * How long to wait after `failures` failures in a row, >= 1: doubles from first_ms to limit_ms, and of that a share
 * between half and all, chosen by `random`, so that a crowd of devices does not come back at one instant. Milliseconds.
 */
uint64_t mire__upload_backoff_ms(uint32_t failures, uint32_t first_ms, uint32_t limit_ms, uint32_t random);

/* May a report of this size and enum store_value go over a network where each byte costs? */
bool mire__upload_on_metered(uint64_t bytes, uint32_t value);

#endif
