/*
 * cfi.h - call frame information: where the registers of the caller are, for a pc.
 *
 * Reads .eh_frame through .eh_frame_hdr's sorted table, as the C++ ABI and DWARF 5 section 6.4 describe them, from
 * memory that may be gone or wrong: every read is checked, every loop bounded. Thread: one at a time
 * per cache. Signal-safe.
 */
#ifndef MIRE_UNWIND_CFI_H
#define MIRE_UNWIND_CFI_H

#include "platform/arch.h"
#include "unwind/peek.h"

enum cfi_rule_kind {
    CFI_SAME = 0,      /* the caller's value is still in the register */
    CFI_UNDEFINED,     /* lost; of the return address: no caller */
    CFI_AT_OFFSET,     /* at CFA + value */
    CFI_IS_OFFSET,     /* is CFA + value */
    CFI_REGISTER,      /* in register `value` */
    CFI_AT_EXPRESSION, /* at the address that an expression gives */
    CFI_IS_EXPRESSION  /* the value of an expression */
};

struct cfi_rule {
    uint8_t kind;
    uint32_t size; /* of the expression, bytes */
    int64_t value; /* offset, register, or the expression's address */
};

/* The rules for one pc. */
struct cfi_row {
    uint64_t function;   /* where the described code begins; 0: unknown */
    struct cfi_rule cfa; /* CFI_REGISTER: cfa_register + value; CFI_IS_EXPRESSION */
    uint32_t cfa_register;
    uint32_t ra_column;
    bool signal_frame; /* its caller was interrupted, not calling */
    struct cfi_rule rules[MIRE_REGS_MAX];
};

/*
 * Rows that a reading needs meanwhile, of any content. They take 5 KB of the caller's memory instead of the stack: a
 * reading may run on a thread with a small stack.
 */
#define MIRE_CFI_REMEMBER_MAX 8 /* nesting of DW_CFA_remember_state; compilers use 1 */
struct cfi_scratch {
    struct cfi_row initial; /* after the CIE's instructions */
    struct cfi_row remembered[MIRE_CFI_REMEMBER_MAX];
    struct cfi_row row; /* for callers without memory for the answer */
};

/*
 * Read the row for a pc.
 *   header  address of the .eh_frame_hdr of the module that pc lies in; 0 if it has none
 * Returns false if nothing describes the pc, or the description cannot be read.
 */
bool mire__cfi_read(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache, uint64_t header,
                    uint64_t pc);

/* The same from one description, at address `fde`; 0: none. Returns false if it does not cover the pc. */
bool mire__cfi_read_at(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache, uint64_t fde,
                       uint64_t pc);

/* Recently found rows: most samples of a hang have the same pcs. Zeroed memory. */
#define MIRE_CFI_ROWS 512
struct cfi_cache {
    struct cfi_scratch scratch;
    uint64_t pc[MIRE_CFI_ROWS]; /* 0: empty */
    bool described[MIRE_CFI_ROWS];
    struct cfi_row rows[MIRE_CFI_ROWS];
};

/* The same, through the cache. Returns the row, which stays until the next call; NULL for false. */
const struct cfi_row *mire__cfi_find(struct cfi_cache *rows, struct peek_cache *cache, uint64_t header, uint64_t pc);

/* Read one word of the thread's memory. Returns false if it is not there. */
typedef bool mire__word_fn(void *context, uint64_t *out, uint64_t address);

/*
 * Evaluate a DWARF expression.
 *   push   first on the stack if with_push: the CFA, for rules
 * Returns false if it cannot: a lost register, missing memory, an unknown operation, too many of them.
 */
bool mire__expression(uint64_t *out, struct peek_cache *cache, const struct cfi_rule *rule, const struct regs *regs,
                      bool with_push, uint64_t push, mire__word_fn *word, void *context);

#endif
