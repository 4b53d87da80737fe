/*
 * cache.c - opens converted files, and decompresses their texts.
 */
#include "cache/cache_inside.h"

#include "base/id.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* The name comes from an untrusted file. */
static void take_alt(struct symbol_alt *out, const struct cache_missing_file *missing_file)
{
    *out = (struct symbol_alt){.id_len = missing_file->id_len, .contents_id = missing_file->contents_id};
    memcpy(out->id, missing_file->id, missing_file->id_len);
    for (size_t i = 0; i + 1 < sizeof out->name && missing_file->name[i]; i++)
        out->name[i] = missing_file->name[i] > ' ' && missing_file->name[i] < 0x7f ? missing_file->name[i] : '_';
    if (!out->name[0])
        out->name[0] = '_';
}

/* Returns false if a row is invalid. */
static bool read_missing_files(struct module *module, const uint8_t *bytes, size_t count)
{
    struct symbol_splits *splits = &module->missing_files;
    struct cache_missing_file missing_file;
    for (size_t i = 0; i < count; i++) {
        memcpy(&missing_file, bytes + i * sizeof missing_file, sizeof missing_file);
        if (missing_file.is_alt && missing_file.id_len && missing_file.id_len <= sizeof missing_file.id) {
            take_alt(&module->alt, &missing_file);
        } else if (!missing_file.is_alt && missing_file.id_len == MIRE_SYMBOL_SPLIT_ID &&
                   splits->count < MIRE_SYMBOL_SPLITS) {
            memcpy(splits->ids[splits->count], missing_file.id, missing_file.id_len);
            splits->contents_ids[splits->count++] = missing_file.contents_id;
        } else {
            return false;
        }
    }
    return true;
}

/* Compute the position of each part from the counts. Returns false if they do not fit the file. */
static bool lay_out(struct module *module)
{
    const struct cache_head *head = &module->head;
    uint64_t at = sizeof *head;
    module->pages = (const uint32_t *)(const void *)(module->bytes + at);
    at += 4ull * head->page_count;
    module->blocks = (const struct cache_block *)(const void *)(module->bytes + at);
    at += (uint64_t)head->block_count * sizeof *module->blocks;
    module->files = (const uint32_t *)(const void *)(module->bytes + at);
    at += 4ull * head->file_count;
    module->scope_bytes = (uint32_t)head->scope_wide + head->scope_deep;
    module->scopes = module->bytes + at;
    at += (uint64_t)head->scope_count * module->scope_bytes + MIRE_CACHE_PAD;
    at += -at % MIRE_CACHE_LINE;
    module->data = module->bytes + at;
    at += (uint64_t)head->data_bytes + MIRE_CACHE_PAD;
    module->stored = (const char *)module->bytes + at;
    at += head->packed_bytes ? head->packed_bytes : head->text_bytes;
    atomic_init(&module->texts, head->packed_bytes ? NULL : module->stored);
    const uint8_t *missing_files = module->bytes + at;
    at += head->missing_count * sizeof(struct cache_missing_file);
    return at == module->len && at == head->file_bytes &&
           read_missing_files(module, missing_files, head->missing_count);
}

static const char *check(struct module *module, const uint8_t *id, size_t id_len, bool whole)
{
    struct cache_head *head = &module->head;
    memcpy(head, module->bytes, sizeof *head);
    uint32_t crc = head->head_crc;
    head->head_crc = 0;
    if (memcmp(head->magic, MIRE_CACHE_MAGIC, sizeof head->magic) != 0)
        return "is not a symbol cache";
    if (head->version != MIRE_CACHE_VERSION)
        return "is a symbol cache of another version";
    if (libdeflate_crc32(0, head, sizeof *head) != crc)
        return "has a damaged header";
    if (head->id_len > sizeof head->id || head->scope_wide > 8 || head->scope_deep > 8 || head->name_bits > 32 ||
        head->file_bits > 32 || head->parent_bits > 32 || head->line_bits > 32 || head->page_count < 2 ||
        !head->block_count || !head->scope_count || !head->file_count || !head->text_bytes ||
        (head->packed_bytes && head->text_bytes > MIRE_CACHE_PACKED) || !lay_out(module))
        return "has a header that does not fit it";
    if (id_len && (head->id_len != id_len || memcmp(head->id, id, id_len) != 0))
        return "is of another build id";
    if (!head->packed_bytes && module->stored[head->text_bytes - 1])
        return "has texts without an end";
    if (whole && libdeflate_crc32(0, module->bytes + sizeof *head, module->len - sizeof *head) != head->body_crc)
        return "is damaged";
    return NULL;
}

const char *cache_open_fd(struct module **out, int fd, const uint8_t *id, size_t id_len, bool whole)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(struct cache_head))
        return "is too short";
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return "needs more memory than there is";
    module->len = (size_t)st.st_size;
    void *bytes = mmap(NULL, module->len, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) {
        free(module);
        return "cannot be mapped";
    }
    module->bytes = bytes;
    const char *wrong = check(module, id, id_len, whole);
    if (wrong) {
        cache_close(module);
        return wrong;
    }
    /* Each look-up begins in pages and blocks; the other parts are loaded on demand. */
    madvise(bytes, (size_t)((const uint8_t *)module->scopes - module->bytes), MADV_WILLNEED);
    *out = module;
    return NULL;
}

const char *cache_open(struct module **out, const char *path, const uint8_t *id, size_t id_len, bool whole)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return "cannot be opened";
    const char *wrong = cache_open_fd(out, fd, id, id_len, whole);
    close(fd);
    return wrong;
}

void cache_close(struct module *module)
{
    if (!module)
        return;
    if (module->head.packed_bytes)
        free((void *)(uintptr_t)atomic_load_explicit(&module->texts, memory_order_relaxed));
    munmap((void *)(uintptr_t)module->bytes, module->len);
    free(module);
}

const struct symbol_splits *module_missing_splits(const struct module *module)
{
    return &module->missing_files;
}

const struct symbol_alt *module_missing_alt(const struct module *module)
{
    return module->alt.id_len ? &module->alt : NULL;
}

bool module_is_from_base(const struct module *module)
{
    return module && module->head.flags & MIRE_CACHE_FROM_BASE;
}

uint64_t module_begin(const struct module *module)
{
    return module && !module_is_from_base(module) ? module->head.base - module->head.lead : 0;
}

bool module_is_system(const struct module *module)
{
    return module && module->head.flags & MIRE_CACHE_SYSTEM;
}

bool module_has_lines_alone(const struct module *module)
{
    return module && module->head.flags & MIRE_CACHE_LINES;
}

bool module_is_whole(const struct module *module)
{
    if (!module || (module->head.kind != MIRE_SYMBOLS_DEBUG && !(module->head.flags & MIRE_CACHE_SYSTEM)))
        return false;
    return !module->missing_files.count && !module->alt.id_len && !module->head.damaged_units;
}

/* Append a defect, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void add_defect(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;
    len += (size_t)snprintf(out + len, MIRE_SYMBOL_WHY - len, "%s", len ? "; " : "");
    if (len >= MIRE_SYMBOL_WHY)
        return;
    va_start(args, format);
    (void)vsnprintf(out + len, MIRE_SYMBOL_WHY - len, format, args);
    va_end(args);
}

size_t module_defect(char *out, const struct module *module)
{
    size_t damaged = 0, missing = 0;
    char first[2][2 * MIRE_SYMBOL_SPLIT_ID + 1], alt_id[2 * MIRE_SYMBOL_ID_MAX + 1];
    const struct symbol_splits *missing_files = module ? &module->missing_files : NULL;
    out[0] = '\0';
    if (!module || module->head.kind != MIRE_SYMBOLS_DEBUG)
        return 0;
    const struct symbol_alt *alt = module_missing_alt(module);
    hex_format(alt_id, module->alt.id, module->alt.id_len);
    for (size_t i = 0; i < missing_files->count; i++) {
        size_t *sort = missing_files->contents_ids[i] ? &damaged : &missing;
        if (!(*sort)++)
            hex_format(first[sort == &missing], missing_files->ids[i], MIRE_SYMBOL_SPLIT_ID);
    }
    unsigned units = module->head.damaged_units;
    if (units)
        add_defect(out, "is damaged: %u or more of its units cannot be read whole", units);
    if (damaged)
        add_defect(out, "%zu split file%s damaged (%s%s)", damaged, damaged > 1 ? "s are" : " is", first[0],
                   damaged > 1 ? ", ..." : "");
    if (alt)
        add_defect(out, "its dwz file is %s (%s, %s)", alt->contents_id ? "damaged" : "missing", alt->name, alt_id);
    if (missing)
        add_defect(out, "%zu split file%s missing (%s%s)", missing, missing > 1 ? "s are" : " is", first[1],
                   missing > 1 ? ", ..." : "");
    return units + damaged + (alt && alt->contents_id);
}

const struct cache_head *cache_head(const struct module *module)
{
    return &module->head;
}

const char *cache_unpack(const struct module *module)
{
    _Atomic(const char *) *to = (_Atomic(const char *) *)(uintptr_t)&module->texts;
    size_t len = module->head.text_bytes;
    const char *other = NULL;
    char *texts = calloc(len, 1);
    if (!texts)
        return NULL;
    if (ZSTD_decompress(texts, len, module->stored, module->head.packed_bytes) != len || texts[len - 1])
        memset(texts, 0, len);
    if (atomic_compare_exchange_strong_explicit(to, &other, texts, memory_order_acq_rel, memory_order_acquire))
        return texts;
    free(texts);
    return other;
}
