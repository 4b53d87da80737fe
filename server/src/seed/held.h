/*
 * held.h - the memory of an invented process. Inside seed/ only.
 *
 * A healthy process holds some 120 MiB; a process with a leak has its footprint filled up by one category, on one stack.
 */
#ifndef MIRE_SEED_HELD_H
#define MIRE_SEED_HELD_H

#include <stddef.h>
#include <stdint.h>

#define SEED_STACK_FRAMES 6  /* of a stack, at most */
#define SEED_CATEGORIES   16 /* of a process */

enum seed_image { SEED_APP, SEED_PIXBUF, SEED_PANGO, SEED_GOBJECT, SEED_IMAGES };

struct seed_function {
    const char *name;
    enum seed_image image;
};

/* Who asks for a share of a category: functions from the outermost, up to the first 0 behind it. */
struct seed_site {
    uint32_t category; /* index into seed_held.rows */
    uint32_t percent;  /* of the healthy amount */
    uint8_t functions[SEED_STACK_FRAMES];
};

struct seed_row {
    const char *name;
    uint32_t kind; /* of the wire's categories */
    uint64_t count, live_bytes, resident_bytes;
    uint64_t leaked_count, leaked_bytes; /* of these, on the first stack of the category */
    uint64_t grown_count, grown_bytes;   /* in the last minute */
};

struct seed_held {
    struct seed_row rows[SEED_CATEGORIES]; /* in the order of the table, not of the wire */
    uint64_t footprint_bytes, unexplained_bytes;
    uint64_t live_bytes, live_count; /* heap and objects */
    uint64_t mapped_bytes;
};

extern const struct seed_function seed_functions[]; /* the first is main, the root of every stack */
extern const size_t seed_function_count;
extern const struct seed_site seed_sites[];
extern const size_t seed_site_count;

/*
 * What a process holds; `state` draws it.
 *
 *   leak             below SEED_LEAKS: this category is filled up; SEED_NO_LEAK: none is
 *   footprint_bytes  of a process with a leak, about
 */
void seed_hold(struct seed_held *out, uint64_t *state, int leak, uint64_t footprint_bytes);

#endif
