/*
 * test_modules.c - modules found in the list of mappings, compared with the loader's list and with mappings made by the
 * test: every layout of linkers, libraries in archives and in memory.
 */
#include "unwind/modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/mapped.h"

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
        struct given given = look_at((uintptr_t)mapped[i].function);

        snprintf(name, sizeof(name), "%s!/lib%s.so.1", path, names[i]);
        assert_string_equal(given.path, name);
        assert_int_equal(given.module.load, mapped[i].load);
        assert_int_equal(given.facts.id_size, 20);
        assert_unwound_by_hand(mapped[i].function);
    }
    for (int i = 0; i < 4; i++)
        munmap(mapped[i].memory, mapped[i].size);
    close(file.fd);
    unlink(path);
}

/* The page of the header is mapped again as the first page of the text. It must not count as another module's. */
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
        struct given given = look_at((uintptr_t)mapped[i].function);

        assert_ends_with(given.path, i ? "!/liblaid_lld_16k.so.1" : "!/liblaid_lld.so.1");
        assert_int_equal(given.module.load, mapped[i].load);
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

/* As in a program that unpacks itself: no file is mapped, but the image is one. */
static void a_library_copied_to_memory_is_a_module(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("source", 0));
    struct mapped mapped = map(&file, append(&file, "laid_joined"), false);
    uint8_t *copy = malloc(mapped.size);
    struct given given;

    given = look_at((uintptr_t)mapped.function);
    for (size_t at = 0; at < mapped.size; at += 4096) /* holes stay as they are */
        if (mire__peek(copy, (uintptr_t)mapped.memory + at, 4096) == 4096) {
            void *page =
                mmap(mapped.memory + at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

            memcpy(page, copy, 4096);
            if (at < given.module.text_end - given.module.start)
                mprotect(page, 4096, PROT_READ | PROT_EXEC);
        }
    given = look_at((uintptr_t)mapped.function);
    assert_string_equal(given.path, "!/liblaid_joined.so.1");
    assert_int_equal(given.module.load, mapped.load);
    assert_unwound_by_hand(mapped.function);
    free(copy);
    munmap(mapped.memory, mapped.size);
    close(file.fd);
}

/* A file that is also mapped for reading, right below: its header is not the code's. */
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

/* Names may have any characters, and a file may be replaced while its code runs. */
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

/* Libraries of another format: .NET and Wine map them, and their offsets are the same in each run. */
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
        cmocka_unit_test(each_layout_is_where_the_loader_put_it),
        cmocka_unit_test(all_that_is_loaded_is_where_the_loader_put_it),
        cmocka_unit_test(members_of_an_archive_are_modules_of_their_own),
        cmocka_unit_test(members_laid_out_by_lld_are_too),
        cmocka_unit_test(a_library_in_memory_is_called_as_its_linker_called_it),
        cmocka_unit_test(a_library_copied_to_memory_is_a_module),
        cmocka_unit_test(a_module_that_is_also_read_is_one_module),
        cmocka_unit_test(a_path_is_told_as_it_is),
        cmocka_unit_test(a_pe_image_is_a_module),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
