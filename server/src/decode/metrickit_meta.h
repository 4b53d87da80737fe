/*
 * metrickit_meta.h - parts that MetricKit's diagnostics and metrics have in common: who sent them, of which period, and
 * amounts. Inside decode/ only.
 */
#ifndef MIRE_DECODE_METRICKIT_META_H
#define MIRE_DECODE_METRICKIT_META_H

#include "decode/metrickit_run.h"

/* The first of two members that is there; 0: none. */
uint32_t metrickit_either(const struct json *json, uint32_t at, const char *one, const char *other);

/* An amount as text with a unit, as a Measurement, or as a number of units of `number_is` milliseconds or bytes. */
struct fact metrickit_amount(struct build *b, const struct json *json, uint32_t at, uint64_t number_is);

/* Versions, device and process; of metrics the app's version is beside the metadata. */
void metrickit_meta(struct build *b, const struct json *json, uint32_t meta);

/* The payload's begin and end, of each form. */
struct metrickit_period metrickit_period(struct build *b, const struct json *json);

#endif
