/*
 * compact.h - Apple's compact unwind information: where the registers of the caller are, for a pc of a Mach-O module.
 *
 *     __unwind_info   two levels of sorted tables: function -> encoding, 32 bits
 *     encoding        frame pointer | fixed stack size | stack size in an instruction | see __eh_frame
 *     row             the same rules that .eh_frame is read into (cfi.h), so the walkers stay as they are
 *
 * An encoding holds for the body of its function. An interrupted pc may lie in the prologue or the epilogue: there the
 * instructions around it decide. The format is that of mach-o/compact_unwind_encoding.h. Both processors are compiled
 * everywhere. Reads memory that may be gone or wrong: every read is checked, every loop bounded. Signal-safe.
 */
#ifndef MIRE_UNWIND_COMPACT_H
#define MIRE_UNWIND_COMPACT_H

#include "unwind/cfi.h"

/* A module's sections; addresses in memory, sizes in bytes. */
struct compact_info {
    uint64_t image;       /* of the Mach-O header: functions are numbered from there */
    uint64_t unwind_info; /* 0: the module has none */
    uint64_t eh_frame;    /* 0: none */
    uint32_t unwind_info_bytes;
    uint32_t eh_frame_bytes;
};

enum compact_processor { COMPACT_X86_64, COMPACT_ARM64 };

/* An entry of the table: a function, or neighbours with one encoding. */
struct compact_function {
    uint64_t start, end; /* addresses in memory; the end is the begin of the next one */
    uint32_t encoding;   /* 0: nothing is said of it */
};

/*
 * Find the function that pc lies in. Returns false if the table has none, or cannot be read.
 */
bool mire__compact_find(struct compact_function *out, struct peek_cache *cache, const struct compact_info *info,
                        uint64_t pc);

/*
 * Read the row for a pc.
 *   exact  pc is an interrupted instruction; otherwise one byte before a return address
 * The row's function is unknown, 0, unless __eh_frame describes it. An interrupted pc without an encoding counts as that of a leaf: a stub, or hand-written code that keeps no frame.
 * Returns false if nothing describes the pc, or the description cannot be read. Thread: as the cache.
 */
bool mire__compact_read(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache,
                        const struct compact_info *info, enum compact_processor processor, uint64_t pc, bool exact);

/*
 * Private, one file per processor. row: the body's rules; `out` is zeroed but for its function. edge: what an interrupted
 * pc in the prologue or epilogue changes in them.
 */
bool mire__compact_row_x86_64(struct cfi_row *out, struct peek_cache *cache, const struct compact_function *function);
void mire__compact_edge_x86_64(struct cfi_row *row, struct peek_cache *cache, const struct compact_function *function,
                               uint64_t pc);
bool mire__compact_row_arm64(struct cfi_row *out, const struct compact_function *function);
void mire__compact_edge_arm64(struct cfi_row *row, struct peek_cache *cache, const struct compact_function *function,
                              uint64_t pc);

/* The rules at a call of the prologue's own, of a function with a frame pointer: pc lies in the call. */
void mire__compact_call_arm64(struct cfi_row *row, struct peek_cache *cache, uint64_t pc);

/* The encoding's field for the kind of rule, and the kind that both processors write differently. */
#define MIRE_COMPACT_MODE(encoding) ((encoding) >> 24 & 15)

static inline void mire__compact_at(struct cfi_row *row, uint32_t reg, int64_t offset)
{
    row->rules[reg] = (struct cfi_rule){.kind = CFI_AT_OFFSET, .value = offset};
}

static inline void mire__compact_cfa(struct cfi_row *row, uint32_t reg, int64_t offset)
{
    row->cfa = (struct cfi_rule){.kind = CFI_REGISTER, .value = offset};
    row->cfa_register = reg;
}

#endif
