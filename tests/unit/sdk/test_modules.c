/*
 * test_modules.c - what is read from the list of mappings, held against what the loader says and against what a test
 * maps by hand: every layout of linkers, libraries in archives and in memory, and code that no module has.
 */
#include "unwind/modules.h"

#include "capture/unwind.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

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

/* ---- what was read ---- */

/* The module that holds an address: looked for among all that the visitor is told. */
struct told {
    uint64_t address;
    bool found;
    struct module module;
    struct module_facts facts;
    char path[4096];
};

static void note(void *context, const struct module *module, const struct module_facts *facts)
{
    struct told *told = context;

    if (told->address < module->start || told->address >= module->end)
        return;
    assert_false(told->found); /* no two modules overlap */
    told->found = true;
    told->module = *module;
    told->facts = *facts;
    snprintf(told->path, sizeof(told->path), "%s", facts->path);
}

static struct told look_at(uintptr_t address)
{
    static struct told told;

    told = (struct told){.address = address};
    mire__modules_read(&modules, note, &told);
    assert_true(told.found);
    assert_non_null(mire__modules_find(&modules, address));
    assert_memory_equal(mire__modules_find(&modules, address), &told.module, sizeof(told.module));
    return told;
}

static void assert_is_made(uintptr_t address)
{
    struct told told = look_at(address);

    assert_string_equal(told.path, "");
    assert_false(told.module.is_image);
    assert_int_equal(told.module.eh_frame_hdr, 0);
}

static void assert_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    if (length < size || strcmp(text + length - size, end) != 0)
        fail_msg("'%s' does not end with '%s'", text, end);
}

/* ---- what the loader says ---- */

struct loaded {
    uintptr_t address;
    uint64_t load, eh_frame_hdr, lowest;
    const uint8_t *id;
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
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

static void assert_as_loaded(uintptr_t address)
{
    struct loaded loaded = {.address = address};
    struct told told = look_at(address);

    assert_int_equal(dl_iterate_phdr(find_loaded, &loaded), 1);
    assert_true(told.module.is_image);
    assert_int_equal(told.module.load, loaded.load);
    assert_int_equal(told.module.eh_frame_hdr, loaded.eh_frame_hdr);
    assert_int_equal(told.facts.base, loaded.lowest);
    assert_int_equal(told.facts.id_size, 20);
    assert_memory_equal(told.facts.id, loaded.id, 20);
}

/* ---- layouts ---- */

static int unwind_here(int number)
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

/* Through both functions of a library that the loader does not know, to where the program begins. */
static void assert_unwound_by_hand(laid_out_fn *function)
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

/* The same of one that it knows: as the C library's own unwinder goes. */
static void assert_unwound(laid_out_fn *function)
{
    uint32_t depth, same = 0;

    assert_int_equal(function(unwind_here, 1), 6);
    assert_int_equal(sample.flags, 0);
    assert_in_range(trace_depth, sample.depth, sample.depth + 1); /* a sanitizer's backtrace() has one of its own */
    depth = sample.depth;
    for (uint32_t i = 1; i < depth; i++)
        same += sample.pc[i] + 1 == (uintptr_t)trace[i + trace_depth - depth];
    assert_int_equal(same, depth - 1);
}

static void each_layout_is_where_the_loader_put_it(void **state)
{
    (void)state;
    char names[] = MIRE_LAYOUTS, path[4096];
    unsigned count = 0;

    for (char *name = strtok(names, " "); name; name = strtok(NULL, " "), count++) {
        laid_out_fn *function;
        void *library;

        snprintf(path, sizeof(path), "%s%s.so", FOLDER, name);
        print_message("%s\n", name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(library);
        *(void **)&function = dlsym(library, "laid_out");
        assert_as_loaded((uintptr_t)function);
        assert_string_equal(look_at((uintptr_t)function).path, path);
        assert_unwound(function);
        dlclose(library);
    }
    assert_true(count >= 5);
}

static void all_that_is_loaded_is_where_the_loader_put_it(void **state)
{
    (void)state;

    assert_as_loaded((uintptr_t)getpid);
    assert_as_loaded((uintptr_t)look_at);
    assert_as_loaded((uintptr_t)cmocka_set_message_output);
}

/* ---- mapped by hand ---- */

struct file {
    int fd;
    uint64_t size; /* bytes that are used, a multiple of PIECE */
};

static struct file file_at(int fd)
{
    return (struct file){fd, 0};
}

/* Append a library. Returns where it begins. */
static uint64_t append(struct file *file, const char *name)
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
 * Map the library that begins at `begin` of the file, as a loader would that can read archives.
 *   at     NULL: anywhere
 *   holes  leave what lies between its segments unmapped
 */
static struct mapped map_at(void *at, const struct file *file, uint64_t begin, bool holes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct mapped out = {0};
    ElfW(Phdr) parts[16];
    ElfW(Ehdr) header;
    uint64_t end = 0;

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

static struct mapped map(const struct file *file, uint64_t begin, bool holes)
{
    return map_at(NULL, file, begin, holes);
}

static struct file temporary(char path[64])
{
    strcpy(path, "/tmp/mire-modules-XXXXXX");
    return file_at(mkstemp(path));
}

static void members_of_an_archive_are_modules_of_their_own(void **state)
{
    (void)state;
    const char *const names[] = {"laid_bfd", "laid_joined", "laid_huge", "laid_bfd"};
    struct mapped mapped[4];
    char path[64], name[128];
    struct file file = temporary(path);

    file.size = PIECE; /* it begins with something else */
    for (int i = 0; i < 4; i++)
        mapped[i] = map(&file, append(&file, names[i]), false);
    for (int i = 0; i < 4; i++) {
        struct told told = look_at((uintptr_t)mapped[i].function);

        snprintf(name, sizeof(name), "%s!/lib%s.so.1", path, names[i]);
        assert_string_equal(told.path, name);
        assert_int_equal(told.module.load, mapped[i].load);
        assert_int_equal(told.facts.id_size, 20);
        assert_unwound_by_hand(mapped[i].function);
    }
    for (int i = 0; i < 4; i++)
        munmap(mapped[i].memory, mapped[i].size);
    close(file.fd);
    unlink(path);
}

/* The page of the header is mapped again as the first page of the text: nobody takes that for another module's. */
static void members_laid_out_by_lld_are_too(void **state)
{
    (void)state;
    char path[64];
    struct file file = temporary(path);
    struct mapped mapped[2];

    if (!strstr(MIRE_LAYOUTS, "laid_lld"))
        skip();
    file.size = 3 * PIECE;
    for (int i = 0; i < 2; i++)
        mapped[i] = map(&file, append(&file, i ? "laid_lld_16k" : "laid_lld"), false);
    for (int i = 0; i < 2; i++) {
        struct told told = look_at((uintptr_t)mapped[i].function);

        assert_ends_with(told.path, i ? "!/liblaid_lld_16k.so.1" : "!/liblaid_lld.so.1");
        assert_int_equal(told.module.load, mapped[i].load);
        assert_unwound_by_hand(mapped[i].function);
        munmap(mapped[i].memory, mapped[i].size);
    }
    close(file.fd);
    unlink(path);
}

static void a_library_in_memory_is_called_as_its_linker_called_it(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("plugin", 0));
    laid_out_fn *function;
    char path[64];
    void *library;

    append(&file, "laid_joined");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file.fd);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    close(file.fd);
    *(void **)&function = dlsym(library, "laid_out");
    assert_as_loaded((uintptr_t)function);
    assert_string_equal(look_at((uintptr_t)function).path, "/memfd:plugin!/liblaid_joined.so.1");
    assert_unwound(function);
    dlclose(library);
}

/* As a program does that unpacks itself: no file is mapped, but the image is one. */
static void a_library_copied_to_memory_is_a_module(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("source", 0));
    struct mapped mapped = map(&file, append(&file, "laid_joined"), false);
    uint8_t *copy = malloc(mapped.size);
    struct told told;

    told = look_at((uintptr_t)mapped.function);
    for (size_t at = 0; at < mapped.size; at += 4096) /* holes stay as they are */
        if (mire__peek(copy, (uintptr_t)mapped.memory + at, 4096) == 4096) {
            void *page =
                mmap(mapped.memory + at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

            memcpy(page, copy, 4096);
            if (at < told.module.text_end - told.module.start)
                mprotect(page, 4096, PROT_READ | PROT_EXEC);
        }
    told = look_at((uintptr_t)mapped.function);
    assert_string_equal(told.path, "!/liblaid_joined.so.1");
    assert_int_equal(told.module.load, mapped.load);
    assert_unwound_by_hand(mapped.function);
    free(copy);
    munmap(mapped.memory, mapped.size);
    close(file.fd);
}

/* ---- code that no module has ---- */

static int run(void *code)
{
    int (*function)(void);

    *(void **)&function = code;
    return function();
}

static void put_code(void *at)
{
    memcpy(at, return_7, sizeof(return_7));
    __builtin___clear_cache((char *)at, (char *)at + sizeof(return_7));
}

/* Mapped twice, to be written here and to be run there. */
static void *twice_mapped(int fd)
{
    void *write, *run_from;

    assert_int_equal(ftruncate(fd, PIECE), 0);
    write = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    run_from = mmap(NULL, PIECE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    assert_true(write != MAP_FAILED && run_from != MAP_FAILED);
    put_code((uint8_t *)write + 4096);
    munmap(write, PIECE);
    return (uint8_t *)run_from + 4096;
}

static void *made_in_a_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    uint8_t bytes[PIECE] = {0};
    void *memory;

    memcpy(bytes + 4096, return_7, sizeof(return_7));
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
    memory = mmap(NULL, PIECE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    assert_true(memory != MAP_FAILED);
    close(fd);
    return (uint8_t *)memory + 4096;
}

static void *made_in_memory(int fd, int flags, const char *name)
{
    uint8_t *memory = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, flags, fd, 0);

    assert_true(memory != MAP_FAILED);
    put_code(memory + 4096);
    assert_int_equal(mprotect(memory, PIECE, PROT_READ | PROT_EXEC), 0);
    if (name)
        prctl(0x53564d41 /* PR_SET_VMA */, 0, memory, PIECE, name);
    return memory + 4096;
}

static void code_made_at_run_time_is_no_module(void **state)
{
    (void)state;
    char shared[] = "/dev/shm/mire-made-XXXXXX", jitted[] = "/tmp/jitted-mire-XXXXXX.so";
    int zero = open("/dev/zero", O_RDWR | O_CLOEXEC), shm = mkstemp(shared);
    void *code[7];

    close(mkstemps(jitted, 3));
    code[0] = twice_mapped(memfd_create("doublemapper", MFD_CLOEXEC));
    code[1] = twice_mapped(shm);
    code[2] = made_in_a_file(jitted);
    code[3] = made_in_memory(-1, MAP_PRIVATE | MAP_ANONYMOUS, NULL);
    code[4] = made_in_memory(-1, MAP_PRIVATE | MAP_ANONYMOUS, "dalvik-jit-code-cache");
    code[5] = made_in_memory(-1, MAP_SHARED | MAP_ANONYMOUS, NULL);
    code[6] = made_in_memory(zero, MAP_PRIVATE, NULL);
    for (size_t i = 0; i < MIRE_COUNT(code); i++) {
        assert_int_equal(run(code[i]), 7);
        assert_is_made((uintptr_t)code[i]);
    }
    unlink(shared); /* the same code when its file is gone */
    unlink(jitted);
    for (size_t i = 0; i < MIRE_COUNT(code); i++) {
        assert_is_made((uintptr_t)code[i]);
        munmap((uint8_t *)code[i] - 4096, PIECE);
    }
    close(zero);
    close(shm);
}

/* Linkers leave holes of 2 MiB, and what is mapped next may lie in one. */
static void code_in_a_hole_of_a_module_is_not_the_modules(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("source", 0));
    struct mapped mapped;
    struct told told;
    void *made;

    mapped = map(&file, append(&file, "laid_huge"), true);
    made = mmap(mapped.memory + 0x100000, PIECE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(made, mapped.memory + 0x100000);
    assert_is_made((uintptr_t)made);
    told = look_at((uintptr_t)mapped.function);
    assert_ends_with(told.path, "!/liblaid_huge.so.1");
    assert_int_equal(told.module.load, mapped.load);
    assert_int_equal(told.facts.base, 0);
    assert_unwound_by_hand(mapped.function);
    munmap(mapped.memory, mapped.size);
    close(file.fd);
}

/* As programs do that want their code in huge pages. */
static void code_that_moved_to_memory_without_a_file_is_still_the_modules(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("source", 0));
    struct mapped mapped = map(&file, append(&file, "laid_separate"), false);
    struct told told = look_at((uintptr_t)mapped.function);
    size_t size = told.module.text_end - told.module.text_start;
    uint8_t *text = (uint8_t *)(uintptr_t)told.module.text_start, *copy = malloc(size);

    memcpy(copy, text, size);
    assert_true(mmap(text, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == text);
    memcpy(text, copy, size);
    assert_int_equal(mprotect(text, size, PROT_READ | PROT_EXEC), 0);
    told = look_at((uintptr_t)mapped.function);
    assert_ends_with(told.path, "!/liblaid_separate.so.1");
    assert_int_equal(told.module.load, mapped.load);
    assert_unwound_by_hand(mapped.function);
    free(copy);
    munmap(mapped.memory, mapped.size);
    close(file.fd);
}

/* A file that is also mapped to be read, right below: its header is not the one that the code belongs to. */
static void a_module_that_is_also_read_is_one_module(void **state)
{
    (void)state;
    char path[64];
    struct file file = temporary(path);
    uint64_t begin = append(&file, "laid_separate");
    uint8_t *room = mmap(NULL, 4 * file.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mapped mapped;

    assert_true(mmap(room, file.size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.fd, 0) == room);
    mapped = map_at(room + file.size, &file, begin, false);
    assert_true(mmap(room + 3 * file.size, file.size, PROT_READ, MAP_SHARED | MAP_FIXED, file.fd, 0) != MAP_FAILED);
    assert_string_equal(look_at((uintptr_t)mapped.function).path, path);
    assert_int_equal(look_at((uintptr_t)mapped.function).module.load, mapped.load);
    assert_unwound_by_hand(mapped.function);
    munmap(room, 4 * file.size);
    close(file.fd);
    unlink(path);
}

/* Names hold anything, and a file may be replaced while its code runs. */
static void a_path_is_told_as_it_is(void **state)
{
    (void)state;
    const char *const names[] = {"two words.so", "new\nline.so", "caf\xe9.so", "a!b.so", "(deleted).so"};
    char folder[] = "/tmp/mire names XXXXXX", path[4096];

    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < MIRE_COUNT(names); i++) {
        laid_out_fn *function;
        struct file file;
        void *library;

        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        file = file_at(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700));
        append(&file, "laid_bfd");
        close(file.fd);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        *(void **)&function = dlsym(library, "laid_out");
        assert_string_equal(look_at((uintptr_t)function).path, path);
        assert_as_loaded((uintptr_t)function);
        unlink(path); /* as an upgrade does */
        assert_string_equal(look_at((uintptr_t)function).path, path);
        assert_as_loaded((uintptr_t)function);
        dlclose(library);
    }
    rmdir(folder);
}

static void much_made_code_takes_no_modules_place(void **state)
{
    (void)state;
    enum { PIECES = 3 * MIRE_IMAGES_MAX };
    uint8_t *memory = mmap(NULL, (size_t)PIECES * 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(mprotect(memory + i * 2 * 4096, 4096, PROT_READ | PROT_EXEC), 0);
    assert_as_loaded((uintptr_t)getpid); /* the C library lies above */
    assert_as_loaded((uintptr_t)look_at);
    for (size_t i = 0; i < PIECES; i++) {
        const struct module *module = mire__modules_find(&modules, (uintptr_t)memory + i * 2 * 4096);

        assert_non_null(module);
        assert_false(module->is_image);
    }
    munmap(memory, (size_t)PIECES * 2 * 4096);
}

/* The library of another format: .NET and Wine map them, and offsets in them mean the same in each run. */
static void a_pe_image_is_a_module(void **state)
{
    (void)state;
    char path[64];
    struct file file = temporary(path);
    static uint8_t bytes[2 * PIECE] = {'M', 'Z', [0x3c] = 0x80, [0x80] = 'P', 'E'};
    uint8_t *memory;

    bytes[0x80 + 80 + 2] = 2; /* SizeOfImage 0x20000 */
    assert_int_equal(write(file.fd, bytes, sizeof(bytes)), sizeof(bytes));
    memory = mmap(NULL, 3 * PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(memory, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.fd, 0);
    mmap(memory + PIECE, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file.fd, 4096);
    assert_string_equal(look_at((uintptr_t)memory + PIECE).path, path);
    assert_int_equal(look_at((uintptr_t)memory + PIECE).module.load, (uintptr_t)memory);
    munmap(memory, 3 * PIECE);
    close(file.fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_loaded_is_where_the_loader_put_it),
        cmocka_unit_test(each_layout_is_where_the_loader_put_it),
        cmocka_unit_test(members_of_an_archive_are_modules_of_their_own),
        cmocka_unit_test(members_laid_out_by_lld_are_too),
        cmocka_unit_test(a_library_in_memory_is_called_as_its_linker_called_it),
        cmocka_unit_test(a_library_copied_to_memory_is_a_module),
        cmocka_unit_test(code_made_at_run_time_is_no_module),
        cmocka_unit_test(code_in_a_hole_of_a_module_is_not_the_modules),
        cmocka_unit_test(code_that_moved_to_memory_without_a_file_is_still_the_modules),
        cmocka_unit_test(a_module_that_is_also_read_is_one_module),
        cmocka_unit_test(a_path_is_told_as_it_is),
        cmocka_unit_test(much_made_code_takes_no_modules_place),
        cmocka_unit_test(a_pe_image_is_a_module),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
