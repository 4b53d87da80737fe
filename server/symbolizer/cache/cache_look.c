/*
 * cache_look.c - looks addresses up in an open cache.
 *
 *     find_blocks      address -> page -> block
 *     find_rows        block -> position of its segment's row
 *     find_segments    row -> the innermost frame's scope, file and line = the first step of a chain
 *     walk_out         scope -> name; the call it is inlined at = the next step, until a function is reached
 *     write_frames     step -> frame
 *
 * A look-up waits for memory more than it computes, so up to 32 run side by side. Each pass prefetches only the data
 * that the next pass reads, both lines if the data may span two: a processor has some two dozen outstanding cache
 * misses at most. Most passes have no branch that depends on the data, since a mispredicted branch would end the
 * prefetching.
 */
#include "cache/cache_inside.h"

#include "base/bytes.h"

#include <string.h>

#define SIDE_BY_SIDE 32
#define NEAR_BLOCKS  4 /* blocks of a page that are compared without a count */

struct lookup_step { /* an unfinished frame */
    uint32_t scope;
    uint32_t name; /* position in texts; 0: unknown; the same for path */
    uint32_t path;
    uint32_t line;
    uint32_t which; /* index of the address */
    uint32_t level; /* depth in the chain; 0: innermost */
};

struct lookup_batch { /* look-ups side by side */
    size_t count;
    uint32_t offsets[SIDE_BY_SIDE]; /* UINT32_MAX: the address is outside the module */
    struct cache_block blocks[SIDE_BY_SIDE];
    uint32_t rows[SIDE_BY_SIDE];   /* bits of the block before the segment's row */
    uint64_t starts[SIDE_BY_SIDE]; /* start address of the function */
    uint32_t depths[SIDE_BY_SIDE]; /* number of frames */
    size_t step_count;
    struct lookup_step steps[SIDE_BY_SIDE * MIRE_SYMBOL_CHAIN_MAX + 1]; /* by level; one more for a speculative write */
};

struct texts {
    const char *bytes;
    uint32_t len; /* 0: no memory to decompress them */
};

static inline struct texts texts_of(const struct module *module)
{
    const char *bytes = atomic_load_explicit(&module->texts, memory_order_acquire);
    if (!bytes)
        bytes = cache_unpack(module);
    return (struct texts){bytes ? bytes : "", bytes ? module->head.text_bytes : 0};
}

static inline const char *text_at(const struct texts *texts, uint32_t at)
{
    return at ? texts->bytes + at : NULL;
}

static inline uint64_t mask_of(unsigned bits)
{
    return (1ull << bits) - 1;
}

static inline uint32_t bits_of(uint64_t word, unsigned count)
{
    return (uint32_t)(word & mask_of(count));
}

/* The page of an offset; one more page follows it. */
static inline uint32_t page_of(const struct module *module, uint32_t offset)
{
    uint32_t page = offset / MIRE_CACHE_PAGE;
    return page + 1 < module->head.page_count ? page : module->head.page_count - 2;
}

/* The block of an offset: the last one that starts at or before it. 256 bytes after the blocks are readable. */
static inline uint32_t find_block(const struct module *module, uint32_t offset)
{
    const struct cache_block *blocks = module->blocks;
    uint32_t page = page_of(module, offset);
    uint32_t last = module->head.block_count - 1;
    uint32_t high = module->pages[page + 1] < last ? module->pages[page + 1] : last;
    uint32_t low = module->pages[page] < high ? module->pages[page] : high;
    if (__builtin_expect(high - low > NEAR_BLOCKS, 0)) {
        for (uint32_t count = high - low + 1; count > 1;) {
            uint32_t half = count / 2;
            low = blocks[low + half].start <= offset ? low + half : low;
            count -= half;
        }
        return low;
    }
    uint32_t block = low;
    for (uint32_t i = 1; i <= NEAR_BLOCKS; i++)
        block += (low + i <= high) & (blocks[low + i].start <= offset);
    return block;
}

static inline void find_blocks(struct lookup_batch *batch, const struct module *module, const uint64_t *addresses)
{
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t offset = addresses[i] - module->head.base;
        batch->offsets[i] = offset < module->head.high ? (uint32_t)offset : UINT32_MAX;
        batch->depths[i] = 0;
        __builtin_prefetch(&module->pages[page_of(module, batch->offsets[i])]);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct cache_block *first = &module->blocks[module->pages[page_of(module, batch->offsets[i])]];
        __builtin_prefetch(first);
        __builtin_prefetch(first + NEAR_BLOCKS);
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct cache_block block = module->blocks[find_block(module, batch->offsets[i])];
        block.place = block.place < module->head.data_bytes ? block.place : 0;
        batch->blocks[i] = block;
        __builtin_prefetch(module->data + block.place);
    }
}

/* The number of a block's 16 starts at or before `distance`. */
static inline unsigned count_begun(const uint8_t *beginnings, uint16_t distance)
{
    typedef uint16_t eight __attribute__((vector_size(16)));
    typedef uint64_t two __attribute__((vector_size(16)));
    eight low;
    eight high;
    memcpy(&low, beginnings, sizeof low);
    memcpy(&high, beginnings + sizeof low, sizeof high);
    two sums = (two)(((eight)(low <= distance) & 1) + ((eight)(high <= distance) & 1));
    return (unsigned)((sums[0] + sums[1]) * 0x0001000100010001ull >> 48);
}

/* Decode a number of a block: 0 is 0, others count from the block's minimum. */
static inline uint32_t number_of(uint64_t row, unsigned width, uint32_t least)
{
    uint32_t value = bits_of(row, width);
    return value ? least + value - 1 : 0;
}

/* The position of a file's path in texts, 0 if unknown. Prefetches the path. */
static inline uint32_t path_of(const struct module *module, const struct texts *texts, uint32_t file)
{
    uint32_t path = module->files[file < module->head.file_count ? file : 0];
    path = path < texts->len ? path : 0;
    __builtin_prefetch(texts->bytes + path);
    return path;
}

static inline const uint8_t *scope_at(const struct module *module, uint32_t scope)
{
    return module->scopes + (uint64_t)scope * module->scope_bytes;
}

/* Prefetches everything that walk_out reads of a scope. */
static inline void expect_scope(const struct module *module, uint32_t scope)
{
    const uint8_t *p = scope_at(module, scope);
    __builtin_prefetch(p);
    __builtin_prefetch(p + module->head.scope_wide + sizeof(uint64_t) - 1);
}

struct widths { /* bits of a segment's three numbers */
    unsigned scope;
    unsigned file;
    unsigned line;
};

static inline struct widths widths_of(const uint8_t *block)
{
    return (struct widths){load_32(block) >> MIRE_CACHE_SCOPE_BITS, load_32(block + 4) >> MIRE_CACHE_FILE_BITS & 31,
                           load_32(block + 8) >> MIRE_CACHE_LINE_BITS & 31};
}

static inline void find_rows(struct lookup_batch *batch, const struct module *module)
{
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t distance = batch->offsets[i] - batch->blocks[i].start;
        const uint8_t *p = module->data + batch->blocks[i].place;
        struct widths wide = widths_of(p);
        unsigned begun = count_begun(p + 12, (uint16_t)(distance < MIRE_CACHE_REACH ? distance : MIRE_CACHE_REACH));
        unsigned index = begun ? begun - 1 : 0;
        unsigned last = load_32(p + 4) >> (MIRE_CACHE_FILE_BITS + 5) & 15;
        batch->rows[i] = (index < last ? index : last) * (wide.scope + wide.file + wide.line);
        p += MIRE_CACHE_BLOCK + batch->rows[i] / 8;
        __builtin_prefetch(p);
        __builtin_prefetch(p + sizeof(uint64_t) - 1);
    }
}

static inline void find_segments(struct lookup_batch *batch, const struct module *module, const struct texts *texts)
{
    batch->step_count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const uint8_t *p = module->data + batch->blocks[i].place;
        struct widths wide = widths_of(p);
        uint64_t row = load_64(p + MIRE_CACHE_BLOCK + batch->rows[i] / 8) >> batch->rows[i] % 8;
        uint32_t scope = number_of(row, wide.scope, bits_of(load_32(p), MIRE_CACHE_SCOPE_BITS));
        row >>= wide.scope;
        uint32_t file = number_of(row, wide.file, bits_of(load_32(p + 4), MIRE_CACHE_FILE_BITS));
        row >>= wide.file;
        scope = scope < module->head.scope_count && batch->offsets[i] != UINT32_MAX ? scope : 0;
        expect_scope(module, scope);
        batch->steps[batch->step_count] =
            (struct lookup_step){.scope = scope,
                                 .path = path_of(module, texts, file),
                                 .line = number_of(row, wide.line, bits_of(load_32(p + 8), MIRE_CACHE_LINE_BITS)),
                                 .which = (uint32_t)i};
        batch->step_count += scope != 0;
    }
}

/* Walks all chains, level by level. The scope of a step is below the number of scopes, and above the scope of the next
 * step. */
static inline void walk_out(struct lookup_batch *batch, const struct module *module, const struct texts *texts)
{
    const struct cache_head *head = &module->head;
    const uint64_t name_mask = mask_of(head->name_bits), file_mask = mask_of(head->file_bits);
    const uint64_t parent_mask = mask_of(head->parent_bits), line_mask = mask_of(head->line_bits);
    size_t count = batch->step_count;
    for (size_t i = 0; i < count; i++) {
        struct lookup_step *step = &batch->steps[i];
        const uint8_t *p = scope_at(module, step->scope);
        uint64_t wide = load_64(p);
        uint64_t deep = load_64(p + head->scope_wide);
        uint32_t name = (uint32_t)(wide & name_mask);
        uint32_t file = (uint32_t)(wide >> head->name_bits & file_mask);
        uint32_t parent = (uint32_t)(deep & parent_mask);
        uint32_t line = (uint32_t)(deep >> head->parent_bits & line_mask);
        uint32_t level = step->level + 1;
        step->name = name < texts->len ? name : 0;
        __builtin_prefetch(texts->bytes + step->name);
        parent = parent < step->scope ? parent : 0;
        batch->depths[step->which] = level;
        batch->starts[step->which] = parent ? 0 : head->base + (file | (uint64_t)line << head->file_bits);
        parent = level < MIRE_SYMBOL_CHAIN_MAX ? parent : 0;
        expect_scope(module, parent);
        batch->steps[count] = (struct lookup_step){
            .scope = parent, .path = path_of(module, texts, file), .line = line, .which = step->which, .level = level};
        count += parent != 0;
    }
    batch->step_count = count;
}

/* Returns the number of frames. */
static inline size_t write_frames(struct symbol_frame *out, struct symbol_chain *chains,
                                  const struct lookup_batch *batch, const struct texts *texts)
{
    size_t used = 0;
    for (size_t i = 0; i < batch->count; i++) {
        chains[i] = (struct symbol_chain){(uint32_t)used, batch->depths[i]};
        used += batch->depths[i];
    }
    for (size_t i = 0; i < batch->step_count; i++) {
        const struct lookup_step *step = &batch->steps[i];
        out[chains[step->which].first + step->level] =
            (struct symbol_frame){.function = text_at(texts, step->name),
                                  .file = text_at(texts, step->path),
                                  .line = step->line,
                                  .inlined = step->level + 1 < batch->depths[step->which],
                                  .start = batch->starts[step->which]};
    }
    return used;
}

/* Look up at most SIDE_BY_SIDE addresses. Returns the number of frames. */
static inline size_t look_up(struct symbol_frame *out, struct symbol_chain *chains, const struct module *module,
                             const uint64_t *addresses, size_t count)
{
    struct texts texts = texts_of(module);
    struct lookup_batch batch;
    batch.count = count;
    find_blocks(&batch, module, addresses);
    find_rows(&batch, module);
    find_segments(&batch, module, &texts);
    walk_out(&batch, module, &texts);
    return write_frames(out, chains, &batch, &texts);
}

size_t module_lookup(struct symbol_frame *out, const struct module *module, uint64_t address)
{
    struct symbol_chain chain;
    return look_up(out, &chain, module, &address, 1);
}

size_t module_lookup_all(struct symbol_frame *out, size_t room, struct symbol_chain *chains,
                         const struct module *module, const uint64_t *addresses, size_t count)
{
    size_t used = 0;
    size_t done = 0;
    while (done < count && room - used >= MIRE_SYMBOL_ROOM) {
        size_t these = count - done < SIDE_BY_SIDE ? count - done : SIDE_BY_SIDE;
        size_t frames = look_up(out + used, chains + done, module, addresses + done, these);
        for (size_t i = 0; i < these; i++)
            chains[done + i].first += (uint32_t)used;
        used += frames;
        done += these;
    }
    return done;
}
