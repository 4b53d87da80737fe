/*
 * mapped.h - maps libraries of every layout by hand, and checks the modules found in them. For one test program, after
 * cmocka.h.
 */
#ifndef TESTS_SUPPORT_MAPPED_H
#define TESTS_SUPPORT_MAPPED_H

#include "capture/unwind.h"
#include "platform/platform.h"
#include "unwind/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define FOLDER MIRE_BINARY_DIR "/tests/unit/sdk/lib"
#define PIECE  65536u /* bytes; a multiple of every page size */

#if defined(__x86_64__)
static const uint8_t return_7[] = {0xb8, 7, 0, 0, 0, 0xc3};
#else
static const uint8_t return_7[] = {0xe0, 0x00, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#endif

typedef int laid_out_fn(int (*back)(int), int number);

static struct modules modules;
static struct stack_snapshot snapshot;
static struct sample sample;
static void *trace[64];
static uint32_t trace_depth;

/* ---- modules found ---- */

/* The module that contains an address, found among all modules that the visitor gets. */
struct given {
    uint64_t address;
    bool found;
    struct module module;
    struct module_facts facts;
    char path[4096];
};

static inline void note(void *context, const struct module *module, const struct module_facts *facts)
{
    struct given *given = context;

    if (given->address < module->start || given->address >= module->end)
        return;
    assert_false(given->found); /* no two modules overlap */
    given->found = true;
    given->module = *module;
    given->facts = *facts;
    snprintf(given->path, sizeof(given->path), "%s", facts->path);
}

static inline struct given look_at(uintptr_t address)
{
    static struct given given;

    given = (struct given){.address = address};
    mire__modules_read(&modules, note, &given);
    assert_true(given.found);
    assert_non_null(mire__modules_find(&modules, address));
    assert_memory_equal(mire__modules_find(&modules, address), &given.module, sizeof(given.module));
    return given;
}

static inline void assert_is_made(uintptr_t address)
{
    struct given given = look_at(address);

    assert_string_equal(given.path, "");
    assert_false(given.module.is_image);
    assert_int_equal(given.module.eh_frame_hdr, 0);
}

static inline void assert_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    if (length < size || strcmp(text + length - size, end) != 0)
        fail_msg("'%s' does not end with '%s'", text, end);
}

/* ---- modules of the loader ---- */

struct loaded {
    uintptr_t address;
    uint64_t load, eh_frame_hdr, lowest;
    const uint8_t *id;
};

static inline int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *out = context, here = {.address = out->address, .load = info->dlpi_addr, .lowest = UINT64_MAX};
    bool holds = false;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + part->p_vaddr;
        const ElfW(Nhdr) *row = (const void *)(uintptr_t)at;

        holds |= part->p_type == PT_LOAD && out->address - at < part->p_memsz;
        if (part->p_type == PT_LOAD && part->p_vaddr < here.lowest)
            here.lowest = part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME)
            here.eh_frame_hdr = at;
        if (part->p_type == PT_NOTE && row->n_type == NT_GNU_BUILD_ID && row->n_namesz == 4)
            here.id = (const uint8_t *)(row + 1) + 4;
    }
    if (holds)
        *out = here;
    return holds;
}

static inline void assert_as_loaded(uintptr_t address)
{
    struct loaded loaded = {.address = address};
    struct given given = look_at(address);

    assert_int_equal(dl_iterate_phdr(find_loaded, &loaded), 1);
    assert_true(given.module.is_image);
    assert_int_equal(given.module.load, loaded.load);
    assert_int_equal(given.module.eh_frame_hdr, loaded.eh_frame_hdr);
    assert_int_equal(given.facts.base, loaded.lowest);
    assert_int_equal(given.facts.id_size, 20);
    assert_memory_equal(given.facts.id, loaded.id, 20);
}

/* ---- layouts ---- */

static inline int unwind_here(int number)
{
    ucontext_t context;

    trace_depth = (uint32_t)backtrace(trace, 64);
    memset(&sample, 0, sizeof(sample));
    getcontext(&context);
    mire__arch_as_regs(&snapshot.regs, &context);
    snapshot.stack_address = snapshot.regs.value[mire__arch.sp];
    snapshot.stack_size = mire__peek(snapshot.stack, snapshot.stack_address, sizeof(snapshot.stack));
    mire__modules_read(&modules, NULL, NULL);
    mire__unwind(&sample, &snapshot, &modules);
    return number;
}

/* Unwinds through both functions of a library that the loader does not know, to the program's own code. */
static inline void assert_unwound_by_hand(laid_out_fn *function)
{
    const struct module *module;

    assert_int_equal(function(unwind_here, 1), 6);
    assert_int_equal(sample.flags, 0);
    module = mire__modules_find(&modules, (uintptr_t)function);
    assert_ptr_equal(mire__modules_find(&modules, sample.pc[1]), module);
    assert_ptr_equal(mire__modules_find(&modules, sample.pc[2]), module);
    assert_true(sample.pc[2] - (uintptr_t)function < 64);
    assert_ptr_equal(mire__modules_find(&modules, sample.pc[3]), mire__modules_find(&modules, (uintptr_t)look_at));
}

/* The same for a library that the loader knows, compared with the C library's own unwinder. */
static inline void assert_unwound(laid_out_fn *function)
{
    uint32_t depth, same = 0;

    assert_int_equal(function(unwind_here, 1), 6);
    assert_int_equal(sample.flags, 0);
    assert_in_range(trace_depth, sample.depth, sample.depth + 1); /* a sanitizer's backtrace() adds a frame */
    depth = sample.depth;
    for (uint32_t i = 1; i < depth; i++)
        same += sample.pc[i] + 1 == (uintptr_t)trace[i + trace_depth - depth];
    assert_int_equal(same, depth - 1);
}

/* ---- mapped by hand ---- */

struct file {
    int fd;
    uint64_t size; /* bytes in use, a multiple of PIECE */
};

static inline struct file file_at(int fd)
{
    return (struct file){fd, 0};
}

/* Append a library. Returns its offset. */
static inline uint64_t append(struct file *file, const char *name)
{
    static uint8_t bytes[16 << 20];
    uint64_t begin = file->size;
    char path[4096];
    ssize_t size;
    int from;

    snprintf(path, sizeof(path), "%s%s.so", FOLDER, name);
    from = open(path, O_RDONLY | O_CLOEXEC);
    size = read(from, bytes, sizeof(bytes));
    assert_true(size > 0);
    assert_int_equal(pwrite(file->fd, bytes, (size_t)size, (off_t)begin), size);
    file->size += ((uint64_t)size + PIECE - 1) / PIECE * PIECE;
    assert_int_equal(ftruncate(file->fd, (off_t)file->size), 0);
    close(from);
    return begin;
}

struct mapped {
    uint8_t *memory;
    size_t size;
    uint64_t load;
    laid_out_fn *function;
};

/*
 * Map the library at `begin` of the file, like a loader that can read archives.
 *   at     NULL: any address
 *   holes  leave the gaps between its segments unmapped
 */
static inline struct mapped map_at(void *at, const struct file *file, uint64_t begin, bool holes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct mapped out = {0};
    ElfW(Phdr) parts[16];
    ElfW(Ehdr) header;
    uint64_t end = 0;

    backtrace(trace, 1); /* loads backtrace's own library now, instead of into a hole left below */
    assert_int_equal(pread(file->fd, &header, sizeof(header), (off_t)begin), sizeof(header));
    assert_true(header.e_phnum <= 16);
    assert_true(pread(file->fd, parts, header.e_phnum * sizeof(parts[0]), (off_t)(begin + header.e_phoff)) > 0);
    for (int i = 0; i < header.e_phnum; i++)
        if (parts[i].p_type == PT_LOAD)
            end = parts[i].p_vaddr + parts[i].p_memsz;
    out.size = (size_t)end + page;
    out.memory = mmap(at, out.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    assert_true(out.memory != MAP_FAILED);
    if (holes)
        munmap(out.memory, out.size);
    out.load = (uintptr_t)out.memory;
    for (int i = 0; i < header.e_phnum; i++) {
        const ElfW(Phdr) *part = &parts[i];
        uint64_t skew = part->p_vaddr % page;
        int protection = (part->p_flags & PF_R ? PROT_READ : 0) | (part->p_flags & PF_W ? PROT_WRITE : 0) |
                         (part->p_flags & PF_X ? PROT_EXEC : 0);

        if (part->p_type == PT_LOAD)
            assert_true(mmap((void *)(out.load + part->p_vaddr - skew), part->p_filesz + skew, protection,
                             MAP_PRIVATE | MAP_FIXED, file->fd, (off_t)(begin + part->p_offset - skew)) != MAP_FAILED);
    }
    out.function = (laid_out_fn *)(out.load + header.e_entry);
    return out;
}

static inline struct mapped map(const struct file *file, uint64_t begin, bool holes)
{
    return map_at(NULL, file, begin, holes);
}

static inline struct file temporary(char path[64])
{
    strcpy(path, "/tmp/mire-modules-XXXXXX");
    return file_at(mkstemp(path));
}

#endif
