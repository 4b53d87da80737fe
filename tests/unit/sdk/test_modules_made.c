/* test_modules_made.c - code of no module: made at run time, in holes of modules, in memory without a file. */
#include "unwind/modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include <cmocka.h>

#include "support/mapped.h"

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

/* Map memory twice, writable and executable. */
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

/* Linkers leave holes of 2 MiB, and the next mapping may be in one. */
static void code_in_a_hole_of_a_module_is_not_the_modules(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("source", 0));
    struct mapped mapped;
    struct given given;
    void *made;

    mapped = map(&file, append(&file, "laid_huge"), true);
    made = mmap(mapped.memory + 0x100000, PIECE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(made, mapped.memory + 0x100000);
    assert_is_made((uintptr_t)made);
    given = look_at((uintptr_t)mapped.function);
    assert_ends_with(given.path, "!/liblaid_huge.so.1");
    assert_int_equal(given.module.load, mapped.load);
    assert_int_equal(given.facts.base, 0);
    assert_unwound_by_hand(mapped.function);
    munmap(mapped.memory, mapped.size);
    close(file.fd);
}

/* As in programs that move their code to huge pages. */
static void code_that_moved_to_memory_without_a_file_is_still_the_modules(void **state)
{
    (void)state;
    struct file file = file_at(memfd_create("source", 0));
    struct mapped mapped = map(&file, append(&file, "laid_separate"), false);
    struct given given = look_at((uintptr_t)mapped.function);
    size_t size = given.module.text_end - given.module.text_start;
    uint8_t *text = (uint8_t *)(uintptr_t)given.module.text_start, *copy = malloc(size);

    memcpy(copy, text, size);
    assert_true(mmap(text, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == text);
    memcpy(text, copy, size);
    assert_int_equal(mprotect(text, size, PROT_READ | PROT_EXEC), 0);
    given = look_at((uintptr_t)mapped.function);
    assert_ends_with(given.path, "!/liblaid_separate.so.1");
    assert_int_equal(given.module.load, mapped.load);
    assert_unwound_by_hand(mapped.function);
    free(copy);
    munmap(mapped.memory, mapped.size);
    close(file.fd);
}

static void much_made_code_takes_no_modules_place(void **state)
{
    (void)state;
    enum { PIECES = 3 * MIRE_IMAGES_MAX };
    uint8_t *memory = mmap(NULL, (size_t)PIECES * 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(mprotect(memory + i * 2 * 4096, 4096, PROT_READ | PROT_EXEC), 0);
    assert_as_loaded((uintptr_t)getpid); /* the C library is above */
    assert_as_loaded((uintptr_t)look_at);
    for (size_t i = 0; i < PIECES; i++) {
        const struct module *module = mire__modules_find(&modules, (uintptr_t)memory + i * 2 * 4096);

        assert_non_null(module);
        assert_false(module->is_image);
    }
    munmap(memory, (size_t)PIECES * 2 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_made_at_run_time_is_no_module),
        cmocka_unit_test(code_in_a_hole_of_a_module_is_not_the_modules),
        cmocka_unit_test(code_that_moved_to_memory_without_a_file_is_still_the_modules),
        cmocka_unit_test(much_made_code_takes_no_modules_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
