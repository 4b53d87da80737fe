/*
 * modules_apple.c - the loaded modules, by the list that dyld keeps for debuggers; see modules.h. Signal-safe.
 *
 * The kernel has the address of the list (TASK_DYLD_INFO). dyld changes the list under a lock that is never taken here:
 * during a change the pointer is NULL, and the list of the last read stays. All reads expect memory that may vanish.
 */
#include "unwind/modules.h"

#include "base/hash.h"
#include "platform/platform.h"

#include <mach-o/loader.h>
#include <mach/mach.h>
#include <string.h>

#define COMMANDS_MAX       1024
#define COMMANDS_MAX_BYTES (256u << 10)
#define TRIES              3 /* the list may change while it is read */

/* The first fields of the struct in mach-o/dyld_images.h, which only Xcode has. */
struct dyld_image {
    uint64_t load, path, changed;
};
struct dyld_images {
    uint32_t version, count;
    uint64_t list; /* 0: it is being changed */
    uint64_t notification;
    bool detached, initialized;
    uint64_t dyld, jit, dyld_version, error, flags, symbolication_page, order, uuid_count, uuids, self, first_count,
        error_kind, error_client, error_target, error_symbol, cache_slide;
    uint8_t cache_uuid[16];
    uint64_t cache_base, list_changed, dyld_path;
};

/* A load command's address, and the module's parts that were found so far. */
struct image_reading {
    struct peek_cache *cache;
    uint64_t header;  /* address */
    uint64_t vm_text; /* of __TEXT, in the file's own numbers */
    uint64_t text_bytes;
    struct module *module;
    struct module_facts *facts;
};

static void note_section(struct image_reading *reading, const struct section_64 *section)
{
    uint64_t address = reading->header + (section->addr - reading->vm_text);
    struct module *module = reading->module;

    if (strncmp(section->sectname, "__unwind_info", sizeof(section->sectname)) == 0) {
        module->unwind_info = address;
        module->unwind_info_bytes = (uint32_t)section->size;
    } else if (strncmp(section->sectname, "__eh_frame", sizeof(section->sectname)) == 0) {
        module->eh_frame = address;
        module->eh_frame_bytes = (uint32_t)section->size;
    }
}

static bool read_segment(struct image_reading *reading, uint64_t at)
{
    struct segment_command_64 segment;
    struct section_64 section;

    if (!mire__peek_cached(&segment, reading->cache, at, sizeof(segment)))
        return false;
    if (strncmp(segment.segname, SEG_TEXT, sizeof(segment.segname)) != 0)
        return true;
    reading->vm_text = segment.vmaddr;
    reading->text_bytes = segment.vmsize;
    for (uint32_t i = 0; i < segment.nsects && i < COMMANDS_MAX; i++) {
        if (!mire__peek_cached(&section, reading->cache, at + sizeof(segment) + i * sizeof(section), sizeof(section)))
            return false;
        note_section(reading, &section);
    }
    return true;
}

static bool read_uuid(struct image_reading *reading, uint64_t at)
{
    struct uuid_command uuid;

    if (!mire__peek_cached(&uuid, reading->cache, at, sizeof(uuid)))
        return false;
    reading->facts->id_size = sizeof(uuid.uuid);
    memcpy(reading->facts->id, uuid.uuid, sizeof(uuid.uuid));
    return true;
}

static bool read_commands(struct image_reading *reading)
{
    struct mach_header_64 header;
    uint64_t at = reading->header + sizeof(header);

    if (!mire__peek_cached(&header, reading->cache, reading->header, sizeof(header)) || header.magic != MH_MAGIC_64 ||
        header.ncmds > COMMANDS_MAX || header.sizeofcmds > COMMANDS_MAX_BYTES)
        return false;
    for (uint32_t i = 0; i < header.ncmds; i++) {
        struct load_command command;

        if (!mire__peek_cached(&command, reading->cache, at, sizeof(command)) || command.cmdsize < sizeof(command))
            return false;
        if (command.cmd == LC_SEGMENT_64 && !read_segment(reading, at))
            return false;
        if (command.cmd == LC_UUID && !read_uuid(reading, at))
            return false;
        at += command.cmdsize;
    }
    return reading->text_bytes > 0;
}

/* The length of a name is unknown: read up to its end, or to the end of readable memory. */
static void read_path(char *out, size_t cap_bytes, uint64_t at)
{
    size_t got = at ? mire__peek(out, at, cap_bytes - 1) : 0;

    out[got] = '\0';
}

/* Keep the list in the order of addresses. */
static void insert(struct modules *modules, const struct module *module)
{
    uint32_t at = modules->count++;

    for (; at > 0 && modules->list[at - 1].start > module->start; at--)
        modules->list[at] = modules->list[at - 1];
    modules->list[at] = *module;
}

static void add_module(struct modules *modules, uint64_t header, uint64_t path)
{
    struct module module = {.start = header, .text_start = header, .is_image = true};
    struct module_facts facts = {.path = modules->gather.path};
    struct image_reading reading = {.cache = &modules->cache, .header = header, .module = &module, .facts = &facts};

    if (header == 0 || modules->count == MIRE_IMAGES_MAX || !read_commands(&reading))
        return;
    module.end = module.text_end = header + reading.text_bytes;
    module.load = header - reading.vm_text;
    facts.base = reading.vm_text;
    read_path(modules->gather.path, sizeof(modules->gather.path), path);
    insert(modules, &module);
    if (modules->gather.visit)
        modules->gather.visit(modules->gather.context, &module, &facts);
    modules->signature = mire__hash_step(mire__hash_step(modules->signature, header), module.end);
}

/* dyld's own description of all images. */
static bool find_images(struct dyld_images *out)
{
    task_dyld_info_data_t info;
    mach_msg_type_number_t count = TASK_DYLD_INFO_COUNT;

    return task_info(mach_task_self(), TASK_DYLD_INFO, (task_info_t)&info, &count) == KERN_SUCCESS &&
           mire__peek(out, info.all_image_info_addr, sizeof(*out)) == sizeof(*out) && out->list != 0;
}

static void read_list(struct modules *modules, const struct dyld_images *images)
{
    for (uint32_t i = 0; i < images->count; i++) {
        struct dyld_image image;

        if (mire__peek(&image, images->list + i * sizeof(image), sizeof(image)) != sizeof(image))
            return;
        add_module(modules, image.load, image.path);
    }
    add_module(modules, images->dyld, images->dyld_path);
}

void mire__modules_read(struct modules *modules, mire__module_fn *visit, void *context)
{
    uint64_t signature = modules->signature;
    struct dyld_images images;
    int tries = TRIES;

    modules->read_ns = mire__now_ns();
    while (!find_images(&images))
        if (--tries == 0)
            return;
    modules->gather.visit = visit;
    modules->gather.context = context;
    modules->count = 0;
    modules->signature = MIRE_HASH_START;
    memset(modules->cache.address, 0, sizeof(modules->cache.address));
    read_list(modules, &images);
    if (modules->signature != signature)
        memset(modules->rows.pc, 0, sizeof(modules->rows.pc));
}
