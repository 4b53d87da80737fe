/*
 * bucket.h - where an installation falls when a share of installations is drawn.
 *
 * The draw is a hash (SipHash-2-4 under a fixed key) of what is given, so it is the same on every device and on the
 * server, in every run and version. A share of p holds the buckets below p: raising p keeps who was in, and two
 * plugins, or two salts, draw independently. Pure.  Thread: any.  Signal handler: yes.
 */
#ifndef MIRE_WIRE_BUCKET_H
#define MIRE_WIRE_BUCKET_H

#include <stdint.h>

#define MIRE_BUCKETS 1000000u /* a bucket is a millionth of all installations */

/*
 *   install  the installation's identifier, 32 hex digits
 *   plugin   what is drawn for; NULL reads as ""
 *   salt     another salt draws anew; NULL reads as "". Of both together the first 128 bytes count
 *
 * Returns 0..MIRE_BUCKETS-1.
 */
uint32_t mire__bucket(const char *install, const char *plugin, const char *salt);

#endif
