/*
 * characteristic.h - the characteristic frames of a stack, as hashes: the input of likeness.
 *
 *     runtime   memcpy            left out: it is in every stack of its kind
 *     app       Cart.sum$1        Cart.sum$     by the name that enters keys
 *     dispatch  Looper.loop       left out
 *     app       Main.onClick
 *
 * If no frame is characteristic, all are taken. Pure; any thread.
 */
#ifndef MIRE_FEATURE_CHARACTERISTIC_H
#define MIRE_FEATURE_CHARACTERISTIC_H

#include "model/frames.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Hashes of the characteristic frames, innermost first.
 *
 *   hashes  room for `count`
 *   locations  the same: where each stands in `frames`
 *
 * Returns how many.
 */
size_t characteristic_frames(uint64_t *hashes, uint32_t *locations, const struct frame_line *frames, size_t count);

#endif
