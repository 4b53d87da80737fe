/*
 * object.c - maps files and passes them to the reader of their format.
 */
#include "object/object.h"
#include "object/parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

bool file_bytes_map_fd(struct file_bytes *out, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || (uint64_t)st.st_size > MIRE_OBJECT_FILE_MAX)
        return false;
    size_t len = (size_t)st.st_size;
    size_t room = ((len + PAGE - 1) & ~(size_t)(PAGE - 1)) + MIRE_OBJECT_PAD;
    /* Map zeros first and the file over their beginning, so that zero pages follow the file. */
    uint8_t *bytes = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    if (mmap(bytes, len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(bytes, room);
        return false;
    }
    *out = (struct file_bytes){bytes, len, room};
    return true;
}

bool file_bytes_map(struct file_bytes *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool good = file_bytes_map_fd(out, fd);
    close(fd);
    return good;
}

void file_bytes_unmap(struct file_bytes *file)
{
    if (file->mapped)
        munmap((void *)(uintptr_t)file->bytes, file->mapped);
    *file = (struct file_bytes){0};
}

static const char *read_format(struct parts *parts, const uint8_t *id, size_t id_len)
{
    if (parts_are_elf(parts->bytes, parts->len))
        return elf_read(parts);
    if (parts_are_macho(parts->bytes, parts->len))
        return macho_read(parts, id, id_len);
    if (parts_are_breakpad(parts->bytes, parts->len))
        return breakpad_read(parts);
    if (parts_are_mapping(parts->bytes, parts->len))
        return mapping_read(parts);
    return "is neither an ELF, a Mach-O nor a Breakpad file, and no mapping of Java names";
}

const char *object_look(struct object_facts *out, const void *bytes, size_t len, const uint8_t *id, size_t id_len)
{
    struct parts parts = {.bytes = bytes, .len = len, .facts = {.arch = "other"}};
    const char *wrong = read_format(&parts, id, id_len);
    *out = parts.facts;
    return wrong;
}

bool object_begins(const void *bytes, size_t len)
{
    return parts_are_elf(bytes, len) || parts_are_macho(bytes, len) || parts_are_breakpad(bytes, len) ||
           parts_are_mapping(bytes, len);
}

bool object_slice(uint64_t *at_out, uint64_t *len_out, const void *bytes, size_t len, size_t number)
{
    struct parts file = {.bytes = bytes, .len = len};
    struct parts slice = file;
    bool good = parts_are_universal(bytes, len) ? macho_slice(&slice, &file, number) : !number;
    *at_out = (uint64_t)(slice.bytes - file.bytes);
    *len_out = slice.len;
    return good;
}

static int by_low(const void *a, const void *b)
{
    const struct code *x = a;
    const struct code *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

/* Sort the ranges and join adjacent ones. */
static void settle_code(struct code_list *code)
{
    size_t kept = 0;
    if (code->count)
        qsort(code->rows, code->count, sizeof *code->rows, by_low);
    for (size_t i = 0; i < code->count; i++) {
        struct code *last = kept ? &code->rows[kept - 1] : NULL;
        if (last && code->rows[i].low <= last->high)
            last->high = code->rows[i].high > last->high ? code->rows[i].high : last->high;
        else
            code->rows[kept++] = code->rows[i];
    }
    code->count = kept;
}

static const char *open_parts(struct object **out, struct parts *parts, const struct file_bytes *file,
                              const uint8_t *id, size_t id_len, unsigned threads)
{
    struct object *object = calloc(1, sizeof *object);
    if (!object)
        return "there is no memory for it";
    parts->object = object;
    const char *wrong =
        parts_are_macho(parts->bytes, parts->len) ? hidden_open(&object->hidden, parts->bytes, parts->len) : NULL;
    if (!wrong)
        wrong = read_format(parts, id, id_len);
    if (!wrong)
        wrong = inflate_all(parts, threads);
    settle_code(&parts->code);
    object->facts = parts->facts;
    object->file = *file;
    object->code = parts->code.rows;
    object->code_count = parts->code.count;
    object->loaded = parts->loaded.rows;
    object->loaded_count = parts->loaded.count;
    object->mapped = parts->mapped.rows;
    object->mapped_count = parts->mapped.count;
    object->functions = parts->functions.rows;
    object->symbols = parts->symbols.rows;
    object->symbol_count = parts->symbols.count;
    object->frames = parts->frames.rows;
    object->frame_count = parts->frames.count;
    if (wrong) {
        object_close(object);
        return wrong;
    }
    *out = object;
    return NULL;
}

const char *object_open(struct object **out, const struct file_bytes *file, const uint8_t *id, size_t id_len,
                        unsigned threads)
{
    struct parts parts = {.bytes = file->bytes, .len = file->len, .facts = {.arch = "other"}};
    return open_parts(out, &parts, file, id, id_len, threads);
}

const char *object_open_split(struct object **out, const struct file_bytes *file, unsigned threads)
{
    struct parts parts = {.bytes = file->bytes, .len = file->len, .facts = {.arch = "other"}, .want_split = true};
    return open_parts(out, &parts, file, NULL, 0, threads);
}

void object_close(struct object *object)
{
    if (!object)
        return;
    for (size_t i = 0; i < object->held_count; i++)
        munmap(object->held[i], object->held_bytes[i]);
    free(object->code);
    free(object->loaded);
    free(object->mapped);
    free(object->functions);
    free(object->symbols);
    free(object->frames);
    hidden_close(object->hidden);
    free(object);
}

void object_rest(const struct object *object)
{
    if (object->file.mapped)
        (void)madvise((void *)(uintptr_t)object->file.bytes, object->file.mapped, MADV_DONTNEED);
}

bool object_is_code(const struct object *object, uint64_t low, uint64_t high)
{
    size_t from = 0;
    size_t to = object->code_count;
    while (from < to) { /* find the first range that ends after `low` */
        size_t middle = from + (to - from) / 2;
        if (object->code[middle].high <= low)
            from = middle + 1;
        else
            to = middle;
    }
    return from < object->code_count && object->code[from].low <= low && high <= object->code[from].high;
}
