/*
 * otlp.h - OpenTelemetry's profiles (opentelemetry-proto, profiles/v1development): ProfilesData, and the request of its
 * HTTP path, which has the same fields. Inside decode/ only.
 *
 *     1.9   Profile {time_unix_nano 3 (fixed64), ...}, Sample {stack_index 1, values 4}
 *     1.7   Profile {location_indices 3, time_nanos 4}, Sample {locations_start_index 1, locations_length 2, value 3}
 *
 * The kinds of the fields distinguish the versions.
 */
#ifndef MIRE_DECODE_OTLP_H
#define MIRE_DECODE_OTLP_H

#include "decode/decode.h"

enum decode_outcome otlp_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                                size_t len);

#endif
