/*
 * cache_look.c - looks addresses up in an open cache.
 *
 * A look-up waits for memory more than it computes, so many at once go step by step side by side: each step asks for
 * what the next one reads.
 */
#include "symbols/cache_inside.h"

#include "base/bytes.h"

#include <string.h>

#define SIDE_BY_SIDE 16

struct place { /* what one segment, or one call, says */
    uint32_t scope;
    uint32_t file;
    uint32_t line;
};

struct scope {
    uint32_t name;
    uint32_t parent;
    uint32_t file;
    uint32_t line;
};

static uint64_t bits_of(uint64_t word, unsigned at, unsigned count)
{
    return word >> at & ((1ull << count) - 1);
}

/* The block an offset lies in: the last one that begins at or before it. */
static inline uint32_t find_block(const struct module *module, uint32_t offset)
{
    uint32_t page = offset / MIRE_CACHE_PAGE;
    uint32_t last = module->head.block_count - 1;
    if (page + 1 >= module->head.page_count)
        return last;
    uint32_t low = module->pages[page];
    uint32_t high = module->pages[page + 1];
    high = high < last ? high : last;
    if (low >= high)
        return high;
    const uint32_t *from = module->starts + low;
    for (uint32_t count = high - low + 1; count > 1;) {
        uint32_t half = count / 2;
        from = from[half] <= offset ? from + half : from;
        count -= half;
    }
    return (uint32_t)(from - module->starts);
}

/* How many of a block's 16 beginnings lie at or before `distance`. */
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

/* A number in a block: 0 stands for itself, others count from the block's least. */
static inline uint32_t number_in(const uint8_t *bits, unsigned at, unsigned width, uint32_t least)
{
    uint32_t value = (uint32_t)bits_of(load_64(bits + at / 8), at % 8, width);
    return value ? least + value - 1 : 0;
}

static inline struct place find_place(const struct module *module, uint32_t block, uint32_t offset)
{
    uint32_t at = module->places[block];
    if (at > module->head.data_bytes)
        return (struct place){0};
    const uint8_t *p = module->data + at;
    uint32_t distance = offset - module->starts[block];
    uint32_t scope = load_32(p);
    uint32_t file = load_32(p + 4);
    uint32_t line = load_32(p + 8);
    unsigned index = count_begun(p + 12, (uint16_t)(distance < MIRE_CACHE_REACH ? distance : MIRE_CACHE_REACH));
    unsigned last = (file >> (MIRE_CACHE_FILE_BITS + 5)) & 15;
    unsigned scope_wide = scope >> MIRE_CACHE_SCOPE_BITS;
    unsigned file_wide = file >> MIRE_CACHE_FILE_BITS & 31;
    unsigned line_wide = line >> MIRE_CACHE_LINE_BITS & 31;
    index = index ? index - 1 : 0;
    index = index < last ? index : last;
    unsigned bit = index * (scope_wide + file_wide + line_wide);
    p += MIRE_CACHE_BLOCK;
    return (struct place){
        number_in(p, bit, scope_wide, (uint32_t)bits_of(scope, 0, MIRE_CACHE_SCOPE_BITS)),
        number_in(p, bit + scope_wide, file_wide, (uint32_t)bits_of(file, 0, MIRE_CACHE_FILE_BITS)),
        number_in(p, bit + scope_wide + file_wide, line_wide, (uint32_t)bits_of(line, 0, MIRE_CACHE_LINE_BITS)),
    };
}

static inline const uint8_t *scope_at(const struct module *module, uint32_t scope)
{
    return module->scopes + (uint64_t)scope * module->scope_bytes;
}

/* `scope` is below the number of scopes. */
static inline struct scope read_scope(const struct module *module, uint32_t scope)
{
    const struct cache_head *head = &module->head;
    const uint8_t *p = scope_at(module, scope);
    uint64_t wide = load_64(p);
    uint64_t deep = load_64(p + head->scope_wide);
    return (struct scope){(uint32_t)bits_of(wide, 0, head->name_bits), (uint32_t)bits_of(deep, 0, head->parent_bits),
                          (uint32_t)bits_of(wide, head->name_bits, head->file_bits),
                          (uint32_t)bits_of(deep, head->parent_bits, head->line_bits)};
}

struct texts {
    const char *bytes;
    uint32_t len; /* 0: there was no memory to unpack them */
};

static inline struct texts texts_of(const struct module *module)
{
    const char *bytes = atomic_load_explicit(&module->texts, memory_order_acquire);
    if (!bytes)
        bytes = cache_unpack(module);
    return (struct texts){bytes, bytes ? module->head.text_bytes : 0};
}

static inline const char *text_at(struct texts texts, uint32_t at)
{
    return at && at < texts.len ? texts.bytes + at : NULL;
}

static inline const char *path_at(const struct module *module, struct texts texts, uint32_t file)
{
    return file < module->head.file_count ? text_at(texts, module->files[file]) : NULL;
}

/*
 * Write the frame of one scope; *place becomes where the one around it is at. 1: there is one around it, 0: this was
 * the function itself.
 */
static inline int write_frame(struct symbol_frame *out, const struct module *module, struct texts texts,
                              struct place *place, const struct scope *scope)
{
    *out = (struct symbol_frame){.function = text_at(texts, scope->name),
                                 .file = path_at(module, texts, place->file),
                                 .line = place->line,
                                 .inlined = scope->parent != 0};
    if (!scope->parent || scope->parent >= place->scope) {
        out->inlined = false;
        out->start = module->head.base + (scope->file | (uint64_t)scope->line << module->head.file_bits);
        return 0;
    }
    *place = (struct place){scope->parent, scope->file, scope->line};
    return 1;
}

/* All frames of a chain tell where the function begins. */
static void tell_start(struct symbol_frame *frames, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        frames[i].start = frames[count - 1].start;
}

static bool offset_of(uint32_t *out, const struct module *module, uint64_t address)
{
    uint64_t offset = address - module->head.base;
    *out = (uint32_t)offset;
    return offset < module->head.high;
}

size_t module_lookup(struct symbol_frame *out, const struct module *module, uint64_t address)
{
    uint32_t offset;
    size_t count = 0;
    if (!offset_of(&offset, module, address))
        return 0;
    struct place place = find_place(module, find_block(module, offset), offset);
    if (!place.scope || place.scope >= module->head.scope_count)
        return 0;
    struct texts texts = texts_of(module);
    for (int more = 1; more && count < MIRE_SYMBOL_CHAIN_MAX;) {
        struct scope scope = read_scope(module, place.scope);
        more = write_frame(&out[count++], module, texts, &place, &scope);
    }
    out[count - 1].inlined = false;
    tell_start(out, count);
    return count;
}

struct batch { /* look-ups side by side */
    uint32_t offsets[SIDE_BY_SIDE];
    uint32_t blocks[SIDE_BY_SIDE];
    struct place places[SIDE_BY_SIDE];
};

/* The segments of up to 16 addresses. */
static void find_places(struct batch *batch, const struct module *module, const uint64_t *addresses, size_t count)
{
    bool known[SIDE_BY_SIDE];
    for (size_t i = 0; i < count; i++) {
        known[i] = offset_of(&batch->offsets[i], module, addresses[i]);
        if (!known[i])
            batch->offsets[i] = 0;
        __builtin_prefetch(&module->pages[batch->offsets[i] / MIRE_CACHE_PAGE < module->head.page_count
                                              ? batch->offsets[i] / MIRE_CACHE_PAGE
                                              : 0]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t page = batch->offsets[i] / MIRE_CACHE_PAGE;
        uint32_t guess = page < module->head.page_count ? module->pages[page] : 0;
        __builtin_prefetch(module->starts + guess);
        __builtin_prefetch(module->places + guess);
    }
    for (size_t i = 0; i < count; i++) {
        batch->blocks[i] = find_block(module, batch->offsets[i]);
        uint32_t at = module->places[batch->blocks[i]];
        at = at <= module->head.data_bytes ? at : 0;
        __builtin_prefetch(module->data + at);
        __builtin_prefetch(module->data + at + 64);
    }
    for (size_t i = 0; i < count; i++) {
        struct place place = find_place(module, batch->blocks[i], batch->offsets[i]);
        if (!known[i] || place.scope >= module->head.scope_count)
            place.scope = 0;
        batch->places[i] = place;
        __builtin_prefetch(scope_at(module, place.scope));
        __builtin_prefetch(module->files + (place.file < module->head.file_count ? place.file : 0));
    }
}

size_t module_lookup_all(struct symbol_frame *out, size_t room, struct symbol_chain *chains,
                         const struct module *module, const uint64_t *addresses, size_t count)
{
    struct batch batch;
    struct scope scopes[SIDE_BY_SIDE][MIRE_SYMBOL_CHAIN_MAX];
    struct texts texts = texts_of(module);
    size_t used = 0;
    size_t done = 0;
    while (done < count && room - used >= SIDE_BY_SIDE * (size_t)MIRE_SYMBOL_CHAIN_MAX) {
        size_t these = count - done < SIDE_BY_SIDE ? count - done : SIDE_BY_SIDE;
        uint32_t next[SIDE_BY_SIDE];
        uint8_t depth[SIDE_BY_SIDE] = {0};
        uint8_t open[SIDE_BY_SIDE];
        size_t open_count = 0;
        find_places(&batch, module, addresses + done, these);
        for (size_t i = 0; i < these; i++) {
            next[i] = batch.places[i].scope;
            open[open_count] = (uint8_t)i;
            open_count += next[i] != 0;
        }
        while (open_count) { /* all chains go out by one */
            size_t left = 0;
            for (size_t k = 0; k < open_count; k++) {
                uint8_t i = open[k];
                struct scope scope = read_scope(module, next[i]);
                __builtin_prefetch(texts.bytes + (scope.name < texts.len ? scope.name : 0));
                scopes[i][depth[i]++] = scope;
                if (!scope.parent || scope.parent >= next[i] || depth[i] == MIRE_SYMBOL_CHAIN_MAX)
                    continue;
                next[i] = scope.parent;
                __builtin_prefetch(scope_at(module, scope.parent));
                open[left++] = i;
            }
            open_count = left;
        }
        for (size_t i = 0; i < these; i++) {
            struct place place = batch.places[i];
            chains[done + i] = (struct symbol_chain){(uint32_t)used, depth[i]};
            for (unsigned k = 0; k < depth[i]; k++)
                (void)write_frame(&out[used + k], module, texts, &place, &scopes[i][k]);
            if (depth[i])
                out[used + depth[i] - 1].inlined = false;
            tell_start(out + used, depth[i]);
            used += depth[i];
        }
        done += these;
    }
    return done;
}
