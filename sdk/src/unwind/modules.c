/* modules.c - see modules.h. Signal-safe. */
#include "unwind/modules.h"

#include "base/hash.h"
#include "platform/platform.h"

#include <string.h>

#define PAGE_BYTES_MAX 65536u /* of any supported processor */
#define TRIES_ANONYMOUS \
    4 /* starts that are tried for code without a file: a program may have thousands of such mappings */
#define ANONYMOUS_MAX (MIRE_IMAGES_MAX * 3 / 4)
#define NO_START      2 /* no module begins there. A file's hash is odd */

static bool has_file(const char *path)
{
    return path[0] == '/' || strcmp(path, "[vdso]") == 0;
}

/* The file of a mapping; 0: anonymous memory under any name. It is mostly the file of the mapping before. */
static uint64_t file_of(struct module_gather *gather, const struct mapping *mapping)
{
    uint64_t hash = MIRE_HASH_START ^ mapping->inode;

    if (!has_file(mapping->path))
        return 0;
    if (mapping->inode == gather->before_inode && strcmp(mapping->path, gather->before) == 0)
        return gather->before_file;
    return mire__hash_text(hash, mapping->path) | 1;
}

/* Another module at the same addresses has another file or another extent. */
static void sign(struct modules *modules, const struct module *module, uint64_t file, uint64_t offset)
{
    const uint64_t facts[] = {module->start, module->end, module->load, file, offset};

    for (size_t i = 0; i < MIRE_COUNT(facts); i++)
        modules->signature = mire__hash_step(modules->signature, facts[i]);
}

/* The list writes a newline as "\012", and " (deleted)" behind a file that has no name any more. */
static void tidy_path(char *path)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path);
    char *to = path;

    if (length >= sizeof(deleted) && strcmp(path + length - (sizeof(deleted) - 1), deleted) == 0)
        path[length - (sizeof(deleted) - 1)] = '\0';
    for (const char *from = path; *from; to++) {
        bool newline = *from == '\\' && strncmp(from, "\\012", 4) == 0;

        *to = newline ? '\n' : *from;
        from += newline ? 4 : 1;
    }
    *to = '\0';
}

/* A library in an archive, or in memory without a name, has the name that its linker gave it. */
static void name_image(struct module_gather *gather, const char *path)
{
    static const char memory[] = "/memfd:";
    size_t length;

    mire__text_copy(gather->path, sizeof(gather->path), has_file(path) ? path : "");
    tidy_path(gather->path);
    length = strlen(gather->path);
    if (gather->path[0] && gather->image.offset == 0 && strncmp(gather->path, memory, sizeof(memory) - 1) != 0)
        return;
    if (mire__headers_soname(gather->path + length + 2, sizeof(gather->path) - length - 2, &gather->headers) > 0)
        memcpy(gather->path + length, "!/", 2);
    else
        gather->path[length] = '\0';
}

static void add_module(struct modules *modules, const struct module_facts *facts, uint64_t file, uint64_t offset)
{
    struct module_gather *gather = &modules->gather;

    if (modules->count == MIRE_IMAGES_MAX)
        return;
    modules->list[modules->count++] = gather->module;
    if (gather->visit)
        gather->visit(gather->context, &gather->module, facts);
    sign(modules, &gather->module, file, offset);
}

/* Code without a module must not displace modules in the list: the last of such mappings are joined. */
static void add_anonymous(struct modules *modules)
{
    const struct module_facts facts = {.path = ""};
    struct module *last = modules->count > 0 ? &modules->list[modules->count - 1] : NULL;

    if (modules->count >= ANONYMOUS_MAX && !last->is_image)
        last->end = last->text_end = modules->gather.module.end;
    else
        add_module(modules, &facts, 0, 0);
}

static bool is_called(const char *path, const char *part)
{
    const char *slash = strrchr(path, '/');

    return strstr(slash ? slash : path, part) != NULL;
}

/* Android's machine with its compiled code, and the one of desktops and servers. */
static bool is_vm(const char *path)
{
    return is_called(path, "libart.so") || is_called(path, "libjvm.so") || is_called(path, ".oat") ||
           is_called(path, ".odex");
}

/* The mappings gathered so far are a module, if there is code among them. */
static void finish_module(struct modules *modules)
{
    struct module_gather *gather = &modules->gather;
    struct module *module = &gather->module;
    struct module_facts facts = {.path = gather->path};

    module->is_image = gather->is_image;
    module->is_python = gather->is_image && is_called(gather->path, "python");
    module->is_vm = gather->is_image && is_vm(gather->path);
    if (module->text_end != 0 && gather->is_image) {
        module->load = gather->headers.load;
        module->eh_frame_hdr = gather->headers.eh_frame_hdr;
        facts.base = gather->image.address - gather->headers.load;
        facts.id_size = gather->headers.id_size;
        memcpy(facts.id, gather->headers.id, sizeof(facts.id));
        add_module(modules, &facts, gather->image.file, gather->image.offset);
    } else if (module->text_end != 0) {
        module->load = module->start;
        add_anonymous(modules);
    }
    *module = (struct module){0};
}

/*
 * Up to which address does the mapping belong to this image, by executable segments only or by all? The file's bytes
 * must be at the place of a segment; memory without a file lies after them, or replaces them. 0: it does not belong to
 * it.
 */
static uint64_t belongs_until(const struct headers *headers, const struct module_start *image,
                              const struct mapping *mapping, uint64_t file, bool executable)
{
    for (uint32_t i = 0; i < headers->segment_count; i++) {
        const struct segment *segment = &headers->segments[i];
        uint64_t start = headers->load + segment->address, end = start + segment->size_bytes;

        if (mapping->end <= start || mapping->start >= end || (executable && !segment->executable))
            continue;
        if (file == image->file && !headers->is_elf)
            return mapping->end;
        if (file == image->file && file != 0 && segment->offset != MIRE_NO_OFFSET &&
            mapping->start - start == mapping->offset - image->offset - segment->offset)
            return mapping->end;
        if (file == 0 && headers->is_elf && mapping->start + PAGE_BYTES_MAX > start)
            return mapping->end < end ? mapping->end : end;
    }
    return 0;
}

static void take(struct module *module, const struct mapping *mapping, uint64_t end)
{
    if (module->end == 0)
        module->start = mapping->start;
    module->end = end;
    if (!mapping->executable)
        return;
    if (module->text_end == 0)
        module->text_start = mapping->start;
    module->text_end = end;
}

/* By address: another module may lie in a hole of this one. */
static void begin_module(struct modules *modules, const struct module_start *image)
{
    uint64_t start = image->address;

    if (modules->count > 0 && start < modules->list[modules->count - 1].end)
        start = modules->list[modules->count - 1].end;
    modules->gather.module = (struct module){.start = start, .end = start};
}

/* May the image that the mapping belongs to begin there? Memory without a file may have taken the place of a file's
 * text. */
static bool may_begin(const struct module_start *start, const struct mapping *mapping, uint64_t file)
{
    return start->file == file || (file == 0 && start->address + start->size_bytes == mapping->start);
}

/*
 * Is the executable mapping part of an image that begins at one of the starts? Then gather it. The nearest first; but
 * of those in a file the mapping's own last, for in most modules another segment comes before the text.
 */
static bool begin_image(struct modules *modules, const struct mapping *mapping, uint64_t file, bool executable)
{
    struct module_gather *gather = &modules->gather;
    uint32_t count = gather->starts_count, tries = file ? MIRE_STARTS_MAX : TRIES_ANONYMOUS;
    uint32_t noted = count < MIRE_STARTS_MAX ? count : MIRE_STARTS_MAX;

    for (uint32_t i = 0; i < noted && tries > 0; i++) {
        uint32_t back = file ? (i + 1) % noted : i;
        struct module_start *start = &gather->starts[(count - 1 - back) % MIRE_STARTS_MAX];

        if (!may_begin(start, mapping, file))
            continue;
        tries--;
        if (!mire__headers_read(&gather->headers, start->address, start->size_bytes)) {
            start->file = NO_START;
            continue;
        }
        if (belongs_until(&gather->headers, start, mapping, file, executable) == 0)
            continue;
        finish_module(modules);
        gather->is_image = true;
        gather->image = *start;
        begin_module(modules, start);
        name_image(gather, start->file == file ? mapping->path : gather->before);
        return true;
    }
    return false;
}

/* Gather the first part of a mapping. Returns its end. */
static uint64_t gather_part(struct modules *modules, const struct mapping *mapping, uint64_t file)
{
    struct module_gather *gather = &modules->gather;
    uint64_t until = 0;

    if (gather->is_image)
        until = belongs_until(&gather->headers, &gather->image, mapping, file, false);
    if (!until && !mapping->executable)
        return mapping->end;
    if (!until && gather->is_image) {
        finish_module(modules);
        gather->is_image = false;
    }
    if (!until && (begin_image(modules, mapping, file, true) || (file && begin_image(modules, mapping, file, false))))
        until = belongs_until(&gather->headers, &gather->image, mapping, file, false);
    if (!until && mapping->start != gather->module.end)
        finish_module(modules);
    if (!until)
        until = mapping->end;
    take(&gather->module, mapping, until);
    return until;
}

static bool gather_mapping(void *context, const struct mapping *mapping)
{
    struct modules *modules = context;
    struct module_gather *gather = &modules->gather;
    uint64_t file = file_of(gather, mapping);
    struct mapping rest = *mapping;

    if (strcmp(mapping->path, "[vsyscall]") == 0)
        return true;
    if (mapping->readable)
        gather->starts[gather->starts_count++ % MIRE_STARTS_MAX] =
            (struct module_start){file, mapping->start, mapping->end - mapping->start, mapping->offset};
    while (rest.start < rest.end) {
        uint64_t until = gather_part(modules, &rest, file);

        rest.offset += until - rest.start;
        rest.start = until;
    }
    if (file && file != gather->before_file) {
        mire__text_copy(gather->before, sizeof(gather->before), mapping->path);
        gather->before_inode = mapping->inode;
        gather->before_file = file;
    }
    return true;
}

void mire__modules_read(struct modules *modules, mire__module_fn *visit, void *context)
{
    struct module_gather *gather = &modules->gather;
    uint64_t signature = modules->signature;

    gather->visit = visit;
    gather->context = context;
    gather->module = (struct module){0};
    gather->is_image = false;
    gather->starts_count = 0;
    gather->before_file = 0;
    gather->before[0] = '\0';
    modules->count = 0;
    modules->signature = MIRE_HASH_START;
    modules->read_ns = mire__now_ns();
    mire__mappings_visit(gather_mapping, modules, modules->scratch, sizeof(modules->scratch));
    finish_module(modules);
    if (modules->signature == signature)
        return;
    memset(modules->cache.address, 0, sizeof(modules->cache.address));
    memset(modules->rows.pc, 0, sizeof(modules->rows.pc));
}
