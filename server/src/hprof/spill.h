/*
 * spill.h - arrays larger than memory: mapped pieces of a temporary file that has no name. Inside hprof/ only.
 *
 *     uint32_t *parent = spill_array(&spill, count, sizeof *parent);
 *     while (...) { ...; spill_relax(&spill); }
 *
 * spill_relax gives the pages back when the process holds more than its budget; the kernel keeps what was written, in its
 * cache or on the disk. A step between two calls touches SPILL_TOUCHED places at most, and the kernel maps up to
 * SPILL_AROUND bytes for each (no more, since nothing is read ahead into larger folios): the next look comes before these can exceed the budget by more than SPILL_OVER. All arrays
 * go with spill_close. Thread: one.
 */
#ifndef MIRE_HPROF_SPILL_H
#define MIRE_HPROF_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPILL_ARRAYS  48
#define SPILL_TOUCHED 8
#define SPILL_AROUND  (64u << 10)
#define SPILL_OVER    (32u << 20)

struct spill {
    int fd;
    uint64_t size; /* of the file */
    size_t budget_bytes;
    uint64_t steps; /* until the process is looked at */
    int statm_fd;
    struct spill_piece {
        void *at;
        size_t bytes;
    } pieces[SPILL_ARRAYS];
    size_t count;
};

/* False: the file cannot be created; errno has the reason. */
bool spill_open(struct spill *spill, const char *dir, size_t budget_bytes);
void spill_close(struct spill *spill);

/* Zeros; NULL: no room, errno says why. An array of no rows has room for one. */
void *spill_array(struct spill *spill, size_t count, size_t size);

/* Give an array back, before the end. */
void spill_drop(struct spill *spill, void *array);

/* Cheap: it looks once in 64 calls or more. */
void spill_look(struct spill *spill);
static inline void spill_relax(struct spill *spill)
{
    if (spill->steps-- == 0)
        spill_look(spill);
}

#endif
