/*
 * when.h - instants as texts. Inside decode/ only.
 */
#ifndef MIRE_DECODE_WHEN_H
#define MIRE_DECODE_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * "2025-07-17 10:31:01.609265466+0200", with a T between, without the fraction, with Z, +02:00, or a blank before the
 * zone.
 *
 *   ms_out    milliseconds since 1970 UTC; a local time without a zone is taken as UTC
 *   zone_out  whether the text has a zone
 *
 * Returns whether it is one of 1970 or later. Thread: any.
 */
bool when_parse(uint64_t *ms_out, bool *zone_out, const char *text, size_t len);

#endif
