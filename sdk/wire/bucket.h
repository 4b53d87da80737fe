/*
 * bucket.h - the number of an installation in a random draw of installations.
 *
 * The draw is a hash (SipHash-2-4 with a fixed key) of the arguments, so it is the same on every device and on the
 * server, in every run and version. A share of p holds the buckets below p, so a larger p keeps all installations that
 * were in. Two plugins, or two salts, draw independently. Pure.  Thread: any.  Signal handler: yes.
 */
#ifndef MIRE_WIRE_BUCKET_H
#define MIRE_WIRE_BUCKET_H

#include <stdint.h>

#define MIRE_BUCKETS 1000000u /* a bucket is a millionth of all installations */

/*
 *   install  the installation's identifier, 32 hex digits
 *   plugin   name of the plugin; NULL: ""
 *   salt     another salt makes another draw; NULL: "". The first 128 bytes of both together count
 *
 * Returns 0..MIRE_BUCKETS-1.
 */
uint32_t mire__bucket(const char *install, const char *plugin, const char *salt);

#endif
