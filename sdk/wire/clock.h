/*
 * clock.h - the header by which a device sends its wall clock with each request, the same on both sides.
 *
 *     Mire-Clock: 1764194400123      milliseconds since 1970-01-01 UTC, when the request was sent
 *
 * The times in a report are by the same clock. The server subtracts the clock's error from them.
 */
#ifndef MIRE_WIRE_CLOCK_H
#define MIRE_WIRE_CLOCK_H

#define MIRE_CLOCK_HEADER "Mire-Clock"
#define MIRE_CLOCK_DIGITS 15 /* at most: until the year 33658 */

#endif
