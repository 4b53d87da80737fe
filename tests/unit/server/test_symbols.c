/* Finding a module and looking up addresses: compared with addr2line on this program, and damaged copies of it. */
#include "symbolizer/symbolizer.h"
#include "object/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char __executable_start[];
extern char etext[];

#define MEMBERS MIRE_SOURCE_DIR "/tests/fuzz/corpus/archive/base.apk"
static char self_path[4096];

static unsigned char *slurp(size_t *len_out, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    unsigned char *bytes = malloc((size_t)st.st_size + 1);
    *len_out = fread(bytes, 1, (size_t)st.st_size, file);
    fclose(file);
    return bytes;
}

static uint64_t address_of(const void *function)
{
    return (uint64_t)((const char *)function - __executable_start); /* PIE: linked at 0 */
}

static struct module *open_self(void)
{
    struct module *module;
    char why[MIRE_SYMBOL_WHY];
    if (!module_open(&module, why, self_path, NULL, 0, NULL, 0))
        fail_msg("%s", why);
    return module;
}

__attribute__((noinline, used)) static int outer_function(int n)
{
    return n * 3 + 1;
}

static void a_function_is_found_with_its_line(void **state)
{
    (void)state;
    struct module *module = open_self();
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    size_t count = module_lookup(frames, module, address_of((void *)outer_function));
    assert_int_equal(count, 1);
    assert_string_equal(frames[0].function, "outer_function");
    assert_non_null(strstr(frames[0].file, "test_symbols.c"));
    assert_true(frames[0].line > 40 && frames[0].line < 60);
    assert_int_equal(frames[0].start, address_of((void *)outer_function));
    assert_int_equal(module_lookup(frames, module, 0), 0);
    assert_int_equal(module_lookup(frames, module, UINT64_MAX), 0);
    module_close(module);
}

static const char *base(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "??";
}

/* Read one result of `addr2line -a -f -i`: the chain of an address, as "function base:line" texts. Returns the
 * count. */
static size_t expected_chain(char out[][512], size_t cap, FILE *pipe, char *line, size_t room)
{
    size_t count = 0;
    while (fgets(line, (int)room, pipe) && strncmp(line, "0x", 2) != 0) {
        char location[8192];
        line[strcspn(line, "\n")] = '\0';
        if (!fgets(location, sizeof location, pipe))
            break;
        location[strcspn(location, "\n (")] = '\0';
        if (count < cap)
            snprintf(out[count++], 512, "%.200s %.200s", line, base(location));
    }
    return count;
}

static void answers_are_those_of_addr2line(void **state)
{
    (void)state;
    enum { ADDRESSES = 3000 };
    char list[] = "/tmp/mire-addresses-XXXXXX";
    char command[8300];
    char line[8192];
    FILE *addresses = fdopen(mkstemp(list), "w");
    uint64_t first = address_of((void *)outer_function) & ~0xffffull;
    uint64_t last = address_of(etext);
    uint64_t step = (last - first) / ADDRESSES + 1;
    for (uint64_t at = first; at < last; at += step)
        fprintf(addresses, "0x%llx\n", (unsigned long long)at);
    fclose(addresses);
    snprintf(command, sizeof command, "addr2line -a -f -i -e '%s' < %s", self_path, list);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    struct module *module = open_self();
    unsigned asked = 0, known = 0, gaps = 0, wrong = 0;
    for (uint64_t at = first; at < last; at += step, asked++) {
        static char want[64][512];
        struct symbol_frame got[MIRE_SYMBOL_CHAIN_MAX];
        size_t want_count = expected_chain(want, 64, pipe, line, sizeof line);
        size_t count = module_lookup(got, module, at);
        if (!want_count || !strncmp(want[0], "??", 2) || strstr(want[0], "??:") || strstr(want[0], ":?"))
            continue; /* no DWARF there: the oracle extends symbols into gaps, we do not */
        known++;
        gaps += !count; /* padding after a function: addr2line names the function before it, we do not */
        bool same = !count || count == want_count;
        for (size_t i = 0; same && i < count; i++) {
            char text[512];
            char number[16] = "?";
            if (got[i].line)
                snprintf(number, sizeof number, "%u", got[i].line);
            snprintf(text, sizeof text, "%.200s %.180s:%s", got[i].function, base(got[i].file), number);
            same = !strcmp(text, want[i]);
        }
        if (!same && wrong++ < 5)
            print_message("0x%llx: %zu frames, first %s %s:%u; addr2line: %zu, first %s\n", (unsigned long long)at,
                          count, count ? got[0].function : "-", count ? base(got[0].file) : "-",
                          count ? got[0].line : 0, want_count, want[0]);
    }
    print_message("%u addresses, %u known to addr2line, %u in gaps, %u differ\n", asked, known, gaps, wrong);
    pclose(pipe);
    unlink(list);
    module_close(module);
    assert_true(known > 300);
    assert_true(gaps * 20 <= known);
    assert_true(wrong * 200 <= known); /* the two may cut overlapping line rows differently */
}

/* Look addresses up in a file written from `bytes`; only a crash or a hang fails it. */
static void survive(const unsigned char *bytes, size_t len, uint64_t address)
{
    char path[] = "/tmp/mire-elf-XXXXXX";
    char why[MIRE_SYMBOL_WHY];
    FILE *file = fdopen(mkstemp(path), "wb");
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
    struct module *module;
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    if (module_open(&module, why, path, NULL, 0, NULL, 0)) {
        for (int i = 0; i < 40; i++)
            (void)module_lookup(frames, module, address + (uint64_t)i * 1021);
        module_close(module);
    }
    unlink(path);
}

static void damaged_files_are_survived(void **state)
{
    (void)state;
    size_t len;
    unsigned char *bytes = slurp(&len, self_path);
    unsigned char *copy = malloc(len);
    uint64_t address = address_of((void *)outer_function);
    unsigned seed = 1;
    for (int round = 0; round < 120; round++) {
        memcpy(copy, bytes, len);
        for (int flips = 0; flips < 1 + round * 4; flips++) {
            seed = seed * 1103515245 + 12345;
            size_t at = (size_t)(((uint64_t)seed * len) >> 32);
            copy[at] ^= (unsigned char)(1u << (seed >> 8 & 7));
        }
        memcpy(copy, bytes, round % 2 ? 64 : 0);
        survive(copy, len, address);
    }
    for (int part = 1; part < 20; part++)
        survive(bytes, len * (size_t)part / 20, address);
    free(copy);
    free(bytes);
}

static int uploaded_calls;

static int uploaded(void *context, char *path, size_t room, const uint8_t *id, size_t id_len)
{
    (void)id;
    (void)id_len;
    uploaded_calls++;
    if (!context)
        return 0;
    snprintf(path, room, "%s", (const char *)context);
    return 1;
}

static void modules_are_found_by_build_id_and_remembered(void **state)
{
    (void)state;
    size_t len;
    struct object_facts facts;
    unsigned char *bytes = slurp(&len, self_path);
    assert_null(object_look(&facts, bytes, len, NULL, 0));
    free(bytes);
    struct symbols *symbols;
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    options.uploaded = uploaded;
    options.uploaded_context = self_path;
    options.open_max = 2;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    struct module *module;
    struct module *again;
    uploaded_calls = 0;
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
    assert_non_null(module);
    assert_int_equal(symbols_find(&again, symbols, facts.id, facts.id_len, "/x", 1), 0);
    assert_ptr_equal(module, again);
    assert_int_equal(uploaded_calls, 1);

    uint8_t other[20] = {1};
    assert_int_equal(symbols_find(&module, symbols, other, sizeof other, "/x", 2), 0);
    assert_null(module); /* the file found has another build id */
    assert_int_equal(symbols_find(&module, symbols, other, sizeof other, "/x", 3), 0);
    assert_int_equal(uploaded_calls, 2); /* not looked for again at once */
    assert_int_equal(symbols_find(&module, symbols, other, sizeof other, "/x", 3 + 60000), 0);
    assert_int_equal(uploaded_calls, 3);
    other[0] = 2;
    assert_int_equal(symbols_find(&module, symbols, other, sizeof other, "/x", 4), 0);
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 5), 0);
    assert_int_equal(uploaded_calls, 5); /* was the least recently used of two */
    symbols_close(symbols);

    options.uploaded_context = NULL;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, self_path, 0), 0);
    assert_null(module); /* its own path is not opened unless that is wanted */
    symbols_close(symbols);
    options.local_images = true;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, self_path, 0), 0);
    assert_non_null(module);
    assert_int_equal(symbols_find(&module, symbols, NULL, 0, self_path, 0), 0);
    assert_non_null(module);
    assert_int_equal(symbols_find(&module, symbols, NULL, 0, "[vdso]", 0), 0);
    assert_null(module);
    symbols_close(symbols);
}

/* A reader reads it again: it is loaded again, and the caller's own memory is untouched. */
static void what_was_let_go_of_can_be_read_again(void **state)
{
    struct file_bytes file;
    struct object *objects[2];
    (void)state;
    assert_true(file_bytes_map(&file, "/proc/self/exe"));
    uint8_t *copy = malloc(file.len + MIRE_OBJECT_PAD);
    assert_non_null(copy);
    memcpy(copy, file.bytes, file.len);
    struct file_bytes own = {copy, file.len, 0};
    assert_null(object_open(&objects[0], &file, NULL, 0, 1));
    assert_null(object_open(&objects[1], &own, NULL, 0, 1));
    object_rest(objects[0]);
    object_rest(objects[1]);
    assert_memory_equal(file.bytes, copy, file.len);
    assert_memory_equal(copy,
                        "\x7f"
                        "ELF",
                        4);
    object_close(objects[0]);
    object_close(objects[1]);
    file_bytes_unmap(&file);
    free(copy);
}

static void a_member_of_an_archive_on_this_machine_is_found_by_its_build_id(void **state)
{
    (void)state;
    static const uint8_t id[] = {0x5a, 0x17, 0xc0, 0xde, 0x5a, 0x17, 0xc0, 0xde};
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    struct symbols *symbols;
    struct module *module;
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    static const char *const names[] = {MEMBERS "!/libcart.so", MEMBERS, MEMBERS "!/of/another/name.so"};
    options.local_images = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(symbols_open(&symbols, &options), 0);
        assert_int_equal(symbols_find(&module, symbols, id, sizeof id, names[i], 0), 0);
        assert_non_null(module);
        assert_int_equal(module_lookup(frames, module, 0x1000), 1);
        assert_string_equal(frames[0].function, "cart_add");
        symbols_close(symbols);
    }
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, (const uint8_t[]){1, 2, 3, 4}, 4, MEMBERS "!/libcart.so", 0), 0);
    assert_null(module);
    symbols_close(symbols);
    options.local_images = false;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, id, sizeof id, names[0], 0), 0);
    assert_null(module);
    symbols_close(symbols);
}

int main(void)
{
    ssize_t len = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
    if (len <= 0)
        return 1;
    self_path[len] = '\0';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_found_with_its_line),
        cmocka_unit_test(answers_are_those_of_addr2line),
        cmocka_unit_test(damaged_files_are_survived),
        cmocka_unit_test(modules_are_found_by_build_id_and_remembered),
        cmocka_unit_test(a_member_of_an_archive_on_this_machine_is_found_by_its_build_id),
        cmocka_unit_test(what_was_let_go_of_can_be_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
