/*
 * sentry.h - the event of a Sentry SDK, alone or in an envelope. Inside decode/ only.
 */
#ifndef MIRE_DECODE_SENTRY_H
#define MIRE_DECODE_SENTRY_H

#include "decode/apple.h"
#include "decode/formats.h"

/*
 * One event as a report.
 *
 *   left_out  parts of the envelope that are not kept, for its notes: "1 transaction"; "" if there are none
 */
enum decode_outcome sentry_event(struct foreign *foreign, const struct json *json, const char *left_out);

/* A time: seconds as a number, or a text. */
struct fact sentry_time(struct build *b, const struct json *json, uint32_t at);

/* The list of an interface that is a list or {"values": [...]}. */
uint32_t sentry_values(const struct json *json, uint32_t at);

/* User, tags, flags, breadcrumbs and the state of the device, of the event that is the document. */
void sentry_context(struct build *b, const struct json *json);

#endif
