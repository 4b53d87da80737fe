/* Compares look-ups with addr2line on this very program, and feeds damaged files to the readers. */
#include "symbols/symbols.h"
#include "symbols/module.h"
#include "symbols/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char __executable_start[];
extern char etext[];

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
    struct module *module = module_new();
    assert_int_equal(module_add(module, self_path, NULL, 0), MIRE_ELF_DEBUG);
    module_seal(module);
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
    module_free(module);
}

static const char *base(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "??";
}

/* One answer of `addr2line -a -f -i`: the chain of an address, as "function base:line" texts. Returns the count. */
static size_t expected_chain(char out[][512], size_t cap, FILE *pipe, char *line, size_t room)
{
    size_t count = 0;
    while (fgets(line, (int)room, pipe) && strncmp(line, "0x", 2) != 0) {
        char place[8192];
        line[strcspn(line, "\n")] = '\0';
        if (!fgets(place, sizeof place, pipe))
            break;
        place[strcspn(place, "\n (")] = '\0';
        if (count < cap)
            snprintf(out[count++], 512, "%.200s %.200s", line, base(place));
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
        gaps += !count; /* padding behind a function: addr2line names the function before it, we do not */
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
    module_free(module);
    assert_true(known > 300);
    assert_true(gaps * 20 <= known);
    assert_true(wrong * 200 <= known); /* the two may cut overlapping line rows differently */
}

static void ranges_that_overlap_go_to_the_lowest_key(void **state)
{
    (void)state;
    struct spans spans = {0};
    assert_true(spans_add(&spans, 100, 200, 7));
    assert_true(spans_add(&spans, 150, 160, 3));
    assert_true(spans_add(&spans, 10, 1000, 9));
    assert_true(spans_add(&spans, 5, 5, 1));
    assert_true(spans_add(&spans, 6, 5, 1));
    spans_seal(&spans);
    assert_int_equal(spans_find(&spans, 155, 0)->key, 3);
    assert_int_equal(spans_find(&spans, 155, 4)->key, 7);
    assert_int_equal(spans_find(&spans, 155, 8)->key, 9);
    assert_null(spans_find(&spans, 155, 10));
    assert_int_equal(spans_find(&spans, 160, 0)->key, 7);
    assert_int_equal(spans_find(&spans, 999, 0)->key, 9);
    assert_null(spans_find(&spans, 1000, 0));
    assert_null(spans_find(&spans, 5, 0));
    spans_fini(&spans);
}

static void names_are_demangled(void **state)
{
    (void)state;
    char out[64];
    symbol_demangle(out, sizeof out, "_ZN3foo3barEi");
    assert_string_equal(out, "foo::bar(int)");
    symbol_demangle(out, sizeof out, "_ZN5rsapp6orders8sort_all17h8ad6e3d46a3647b0E");
    assert_string_equal(out, "rsapp::orders::sort_all");
    symbol_demangle(
        out, sizeof out,
        "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h4955c04342d2c441E.llvm.18088968993357556268");
    assert_string_equal(out, "std::rt::lang_start::{{closure}}");
    symbol_demangle(out, sizeof out, "_ZN47_$LT$rsapp..Book$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE");
    assert_string_equal(out, "<rsapp::Book as core::ops::Drop>::drop");
    symbol_demangle(out, sizeof out, "keysCommand");
    assert_string_equal(out, "keysCommand");
    symbol_demangle(out, sizeof out, "_Znonsense");
    assert_string_equal(out, "_Znonsense");
    assert_int_equal(symbol_demangle(out, 4, "keysCommand"), 3);
    assert_string_equal(out, "key");
}

/* What rustc 1.95 wrote, and what binutils' c++filt reads, without hashes and the types of constants. */
static void rust_names_of_version_0_are_demangled(void **state)
{
    static const char *const names[][2] = {
        {"_RNvCs6xxl1lAjzDf_1a4main", "a::main"},
        {"_RNvMs0_NtCs6xxl1lAjzDf_1a4shopINtB5_3NegKln5_E3getB7_", "<a::shop::Neg<-5>>::get"},
        {"_RINvCs6xxl1lAjzDf_1a3genTaReAtj2_ENCNvB2_4mains1_0EB2_",
         "a::gen::<(i8, &str, [u16; 2]), a::main::{closure#3}>"},
        {"_RNvMs_NtCs6xxl1lAjzDf_1a4shopINtB4_3ArrKj4_Kb1_Kc78_E3runB6_", "<a::shop::Arr<4, true, 'x'>>::run"},
        {"_RNvMs_NtCs6xxl1lAjzDf_1a4shopINtB4_3ArrKj0_Kb0_Kce9_E3runB6_", "<a::shop::Arr<0, false, '\\u{e9}'>>::run"},
        {"_RNSNvYNCINvNtNtCsjrHSEGnQ3l9_3std6thread9lifecycle15spawn_uncheckedNCNvCs6xxl1lAjzDf_1a4mains_0uEs_"
         "0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_once6vtableB17_",
         "<std::thread::lifecycle::spawn_unchecked<a::main::{closure#1}, ()>::{closure#1} as"
         " core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}"},
        {"_RINvC1a2fpFUKCPhOsEuE", "a::fp::<unsafe extern \"C\" fn(*const u8, *mut i16)>"},
        {"_RINvC1a2fpDNtNtC4core3fmt5DebugNtNtC4core6marker4SendEL_E",
         "a::fp::<dyn core::fmt::Debug + core::marker::Send>"},
        {"_RINvC1a2fpDINtC1a8IteratorhEp4ItemTyEEL_E", "a::fp::<dyn a::Iterator<u8, Item = (u64,)>>"},
        {"_RINvC1a2fpDG_INtC1a2FnRL0_hEEL_E", "a::fp::<dyn for<'a> a::Fn<&'a u8>>"},
        {"_RINvC1a2fpSQRhE", "a::fp::<[&mut &u8]>"},
    };
    char out[512];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        symbol_demangle(out, sizeof out, names[i][0]);
        assert_string_equal(out, names[i][1]);
    }
    symbol_demangle(out, sizeof out, "_RNvC1a4main.llvm.18088968993357556268");
    assert_string_equal(out, "a::main");
    assert_int_equal(symbol_demangle(out, 5, "_RNvC1a4main"), 4);
    assert_string_equal(out, "a::m");
}

static void rust_names_that_break_the_grammar_stay_as_they_are(void **state)
{
    static const char *const names[] = {"_R",
                                        "_RN",
                                        "_RNvC1a4mai",
                                        "_RNvB_1a",
                                        "_RNvC1a99999999999999999999a",
                                        "_RINvC1a1bB",
                                        "_RINvC1a1b",
                                        "_RINvC1a1bK",
                                        "_RNvBzzzzzzzzzzzzz_1a",
                                        "_RegisterThing"};
    char out[512];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        symbol_demangle(out, sizeof out, names[i]);
        assert_string_equal(out, names[i]);
    }
}

/* Tuples that hold the one before twice: sixty of them would be written for ever. */
static void rust_names_that_stand_for_endless_text_are_cut(void **state)
{
    char name[2048] = "_RINvC1a1bTllE";
    char out[256];
    (void)state;
    for (size_t before = 8, i = 0; i < 60; i++) {
        static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t len = strlen(name), to = before - 1;
        char reference[8] = {digits[to / 62 % 62], digits[to % 62]};
        const char *shown = to < 62 ? reference + 1 : reference;
        before = len - 2;
        snprintf(name + len, sizeof name - len, "TB%s_B%s_E", shown, shown);
    }
    strcat(name, "E");
    assert_int_equal(symbol_demangle(out, sizeof out, name), sizeof out - 1);
    assert_int_equal(strncmp(out, "a::b::<(i32, i32), ((i32, i32), (i32, i32)), ", 44), 0);
}

static void the_check_tells_build_id_and_kind(void **state)
{
    (void)state;
    size_t len;
    struct elf_facts facts;
    unsigned char *bytes = slurp(&len, self_path);
    assert_null(elf_check(&facts, bytes, len));
    assert_int_equal(facts.kind, MIRE_ELF_DEBUG);
    assert_int_equal(facts.id_len, 20);
    assert_non_null(elf_check(&facts, "MZ", 2));
    assert_non_null(elf_check(&facts, bytes, 40));
    for (size_t cut = 0; cut < len; cut += len / 97 + 1) {
        unsigned char *part = malloc(cut + 1);
        memcpy(part, bytes, cut);
        assert_non_null(elf_check(&facts, part, cut)); /* the section table is at the end */
        free(part);
    }
    free(bytes);
}

/* Look addresses up in a file written from `bytes`; only a crash or a hang can fail it. */
static void survive(const unsigned char *bytes, size_t len, uint64_t address)
{
    char path[] = "/tmp/mire-elf-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "wb");
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
    struct module *module = module_new();
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    (void)module_add(module, path, NULL, 0);
    module_seal(module);
    for (int i = 0; i < 40; i++)
        (void)module_lookup(frames, module, address + (uint64_t)i * 1021);
    module_free(module);
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
    struct elf_facts facts;
    unsigned char *bytes = slurp(&len, self_path);
    assert_null(elf_check(&facts, bytes, len));
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

int main(void)
{
    ssize_t len = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
    if (len <= 0)
        return 1;
    self_path[len] = '\0';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_found_with_its_line),
        cmocka_unit_test(answers_are_those_of_addr2line),
        cmocka_unit_test(ranges_that_overlap_go_to_the_lowest_key),
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(rust_names_of_version_0_are_demangled),
        cmocka_unit_test(rust_names_that_break_the_grammar_stay_as_they_are),
        cmocka_unit_test(rust_names_that_stand_for_endless_text_are_cut),
        cmocka_unit_test(the_check_tells_build_id_and_kind),
        cmocka_unit_test(damaged_files_are_survived),
        cmocka_unit_test(modules_are_found_by_build_id_and_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
