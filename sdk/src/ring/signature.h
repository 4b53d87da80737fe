/*
 * signature.h - the stack signature of an event: the functions on the way in that hold most of the time. Two events
 * with the same signature are the same trouble to the rate limiter.
 *
 *     main - run - dispatch - load - parse - { copy 30 %, scan 40 %, free 30 % }
 *     '----------- signature --------------'
 *
 * The signature begins at the outermost frame. It goes on as long as one function holds at least MIRE_SIGNATURE_PERCENT
 * of the weight; these functions are its sure part. Functions further in vary from sample to sample, and from event to
 * event, and are left out. A function that holds a bit less this time may hold a bit more the next time; so the
 * signature has a likely part as well, down to MIRE_SIGNATURE_LIKELY_PERCENT. If the outermost frames already differ
 * (endless recursion, incomplete stacks), the signature is read from the innermost frame outwards.
 *
 * A function is identified by the build id of its image and by its begin in it. So neither the address layout nor
 * another position in the function changes the signature. If no call frame information has the begin, two positions
 * closer than MIRE_SIGNATURE_DRIFT_BYTES are one function.
 *
 * Pure: the memory is the caller's, nothing is kept.
 */
#ifndef MIRE_RING_SIGNATURE_H
#define MIRE_RING_SIGNATURE_H

#include "ring/blackbox.h"

#define MIRE_SIGNATURE_PERCENT        60
#define MIRE_SIGNATURE_LIKELY_PERCENT 40
#define MIRE_SIGNATURE_DRIFT_BYTES    32

struct signature_function {
    uint64_t at;    /* its begin, or a position in it, less the image's load bias; 0 outside of images */
    uint32_t image; /* hash of the image's build id, or of its path; 0: no image */
    uint32_t known; /* 1: `at` is the begin */
};

struct stack_signature {
    uint32_t sure;    /* functions of the sure part, 0..depth */
    uint32_t depth;   /* functions of both parts, 0..MIRE_DEPTH_MAX */
    uint32_t deepest; /* frames of the deepest sample */
    uint32_t inward;  /* 1: read from the innermost frame out */
    struct signature_function functions[MIRE_DEPTH_MAX];
};

/*
 * The signature of the samples in a ring.
 *   box   the blackbox with the images of the samples' addresses
 *   ring  of one of its lanes; may be empty
 */
void mire__signature_find(struct stack_signature *out, const struct blackbox *box, const struct ring *ring);

/*
 * Are two signatures the same? The sure part of each must be in the sure or likely part of the other. Signatures
 * without a sure part are never the same.
 */
bool mire__signature_same(const struct stack_signature *one, const struct stack_signature *other);

/*
 * A number for the sure part, the same in all processes and after restarts; never 0. Functions without a known begin
 * are rounded, so a drift across a boundary of MIRE_SIGNATURE_DRIFT_BYTES changes the number: prefer to compare
 * signatures.
 *   seed  further differences between events, such as their trigger
 */
uint64_t mire__signature_number(const struct stack_signature *signature, uint64_t seed);

#endif
