/* Programs whose DWARF is in other files, .dwo, .dwp, by .gnu_debuglink or .gnu_debugaltlink: combined from uploaded
 * files and from files beside the program. */
#include "base/bytes.h"
#include "base/id.h"
#include "object/object.h"
#include "sandbox/child.h"
#include "symbolizer/cache_directory.h"
#include "symbolizer/symbolizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIXTURES MIRE_SOURCE_DIR "/tests/fixtures/symbols/split/"
#define LINKED   MIRE_SOURCE_DIR "/tests/fixtures/symbols/link/"
#define DWZ      "../dwz/"
#define FILES    4

static const char *sent[FILES]; /* uploaded files, by name */
static unsigned asked;
static unsigned damages; /* number of damage reports */

static bool facts_of(struct object_facts *out, const char *path)
{
    struct file_bytes file;
    if (!file_bytes_map(&file, path))
        return false;
    bool good = !object_look(out, file.bytes, file.len, NULL, 0);
    file_bytes_unmap(&file);
    return good;
}

static int uploaded(void *context, char *path, size_t room, const uint8_t *id, size_t id_len)
{
    (void)context;
    asked++;
    for (size_t i = 0; i < FILES && sent[i]; i++) {
        struct object_facts facts;
        snprintf(path, room, "%s%s", sent[i][0] == '/' ? "" : FIXTURES, sent[i]);
        assert_true(facts_of(&facts, path));
        if (facts.id_len == id_len && !memcmp(facts.id, id, id_len))
            return 1;
    }
    return 0;
}

/* Other contents have another number. */
static int contents_id(void *context, uint64_t *out, const uint8_t *id, size_t id_len)
{
    char path[512];
    struct file_bytes file;
    uint8_t hash[16];
    int rc = uploaded(context, path, sizeof path, id, id_len);
    if (rc <= 0)
        return rc;
    assert_true(file_bytes_map(&file, path));
    hash_blake2b(hash, sizeof hash, file.bytes, file.len);
    file_bytes_unmap(&file);
    memcpy(out, hash, sizeof *out);
    return 1;
}

static void refused(void *context, const char *path, const char *why)
{
    (void)context;
    (void)path;
    damages += strstr(why, "damaged") != NULL;
}

static char dir[] = "/tmp/mire-splits-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    memset(sent, 0, sizeof sent);
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char lock[128];
    (void)cache_directory_make_room(dir, 1, 1);
    snprintf(lock, sizeof lock, "%s/converting", dir);
    unlink(lock);
    return rmdir(dir);
}

/* Returns true if an address in [low, low + 64) has this chain, innermost first. */
static bool has_chain(const struct module *module, uint64_t low, size_t count, const char *const *names)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    for (uint64_t at = low; at < low + 64; at++) {
        bool same = module_lookup(frames, module, at) == count;
        for (size_t i = 0; same && i < count; i++)
            same = frames[i].function && !strcmp(frames[i].function, names[i]) && frames[i].line && frames[i].file &&
                   !strncmp(frames[i].file, "/src/", 5);
        if (same)
            return true;
    }
    return false;
}

static uint64_t address_of(const struct module *module, const char *name)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    for (uint64_t at = 0x100; at < 0x2000; at++) {
        size_t count = module_lookup(frames, module, at);
        if (count && frames[count - 1].function && !strcmp(frames[count - 1].function, name))
            return at;
    }
    return 0;
}

static const char *const split_chain[] = {"deepest", "middle", "outer"};
static const char *const other_chain[] = {"elsewhere", "far"};

static void assert_whole(const struct module *module)
{
    assert_true(has_chain(module, address_of(module, "outer"), 3, split_chain));
    assert_true(has_chain(module, address_of(module, "far"), 2, other_chain));
}

static bool local_images;

static struct symbols *open_symbols(void)
{
    struct symbols *symbols;
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    options.uploaded = uploaded;
    options.contents_id = contents_id;
    options.refused = refused;
    options.cache_dir = dir;
    options.local_images = local_images;
    options.converter = "/proc/self/exe";
    assert_int_equal(symbols_open(&symbols, &options), 0);
    return symbols;
}

static struct module *find(struct symbols *symbols, const char *program)
{
    struct object_facts facts;
    struct module *module;
    char path[512];
    snprintf(path, sizeof path, FIXTURES "%s", program);
    assert_true(facts_of(&facts, path));
    assert_false(facts.split);
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
    return module;
}

static void split_files_are_told_from_programs_and_known_by_their_id(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool package;
    } rows[] = {
        {"gcc5.so-split.dwo", false}, {"gcc5.so-other.dwo", false}, {"gcc4.so.dwp", true}, {"clang5.so.dwp", true}};
    struct object_facts facts[4];
    for (size_t i = 0; i < 4; i++) {
        char path[512];
        snprintf(path, sizeof path, FIXTURES "%s", rows[i].name);
        assert_true(facts_of(&facts[i], path));
        assert_true(facts[i].split);
        assert_int_equal(facts[i].package, rows[i].package);
        assert_int_equal(facts[i].id_len, 8);
        assert_true(facts[i].has_dwarf);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(facts[i].id, facts[k].id, 8);
    }
}

static void uploaded_dwo_files_are_found_by_id(void **state)
{
    (void)state;
    sent[0] = "gcc5.so";
    sent[1] = "gcc5.so-other.dwo";
    sent[2] = "gcc5.so-split.dwo";
    struct symbols *symbols = open_symbols();
    assert_whole(find(symbols, "gcc5.so"));
    symbols_close(symbols);
}

/* packed/: the same files after objcopy --compress-debug-sections, one of each pair by zlib, one by zstd. */
static void compressed_split_files_are_read(void **state)
{
    (void)state;
    static const char *const sets[][3] = {
        {"gcc5.so", "packed/gcc5.so-other.dwo", "packed/gcc5.so-split.dwo"},
        {"gcc4.so", "packed/gcc4.so.dwp", NULL},
        {"clang5.so", "packed/clang5.so.dwp", NULL},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        memcpy(sent, sets[i], sizeof sets[i]);
        struct symbols *symbols = open_symbols();
        assert_whole(find(symbols, sets[i][0]));
        symbols_close(symbols);
    }
}

static void a_package_is_found_whatever_the_version(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"gcc4.so", "gcc4.so.dwp"}, {"clang5.so", "clang5.so.dwp"}};
    for (size_t i = 0; i < 2; i++) {
        sent[0] = pairs[i][0];
        sent[1] = pairs[i][1];
        struct symbols *symbols = open_symbols();
        assert_whole(find(symbols, pairs[i][0]));
        symbols_close(symbols);
    }
}

static void what_lies_beside_a_file_at_hand_is_used(void **state)
{
    (void)state;
    char why[MIRE_SYMBOL_WHY];
    struct module *module;
    assert_true(module_open(&module, why, FIXTURES "clang5.so", NULL, 0, NULL, 0));
    assert_whole(module);
    module_close(module);
    assert_false(module_open(&module, why, FIXTURES "clang5.so.dwp", NULL, 0, NULL, 0));
    assert_non_null(strstr(why, "is a split file"));
}

static void a_split_file_that_comes_later_is_put_in(void **state)
{
    (void)state;
    sent[0] = "gcc5.so";
    sent[1] = "gcc5.so-split.dwo";
    struct symbols *symbols = open_symbols();
    struct module *module = find(symbols, "gcc5.so");
    assert_true(has_chain(module, address_of(module, "outer"), 3, split_chain));
    assert_false(has_chain(module, address_of(module, "far"), 2, other_chain));
    assert_int_not_equal(address_of(module, "far"), 0); /* named by the symbol table */
    symbols_close(symbols);

    sent[2] = "gcc5.so-other.dwo";
    symbols = open_symbols();
    assert_whole(find(symbols, "gcc5.so"));
    symbols_close(symbols);

    asked = 0; /* the cache is whole: only its contents_id is asked for */
    symbols = open_symbols();
    assert_whole(find(symbols, "gcc5.so"));
    assert_int_equal(asked, 1);
    symbols_close(symbols);
}

/* Find a section: bytes [*at, *at + *len) of a file. */
static void find_section(size_t *at, size_t *len, const struct file_bytes *elf, const char *name)
{
    const uint8_t *rows = elf->bytes + load_64(elf->bytes + 0x28);
    const uint8_t *names = elf->bytes + load_64(rows + 64 * load_16(elf->bytes + 0x3e) + 0x18);
    for (unsigned i = 0; i < load_16(elf->bytes + 0x3c); i++)
        if (!strcmp((const char *)names + load_32(rows + 64 * i), name)) {
            *at = load_64(rows + 64 * i + 0x18);
            *len = load_64(rows + 64 * i + 0x20);
            return;
        }
    *at = *len = 0;
    fail_msg("no section %s", name);
}

/* Copy a file with a section zeroed from `from` on, or, with `flip`, with one byte changed there. */
static void damage(const char *to, const char *name, const char *section, size_t from, int flip)
{
    struct file_bytes file;
    char path[512];
    size_t at, len;
    snprintf(path, sizeof path, FIXTURES "%s", name);
    assert_true(file_bytes_map(&file, path));
    find_section(&at, &len, &file, section);
    assert_true(from < len);
    uint8_t *copy = malloc(file.len);
    memcpy(copy, file.bytes, file.len);
    if (flip)
        copy[at + from] ^= (uint8_t)flip;
    else
        memset(copy + at + from, 0, len - from);
    FILE *out = fopen(to, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(copy, 1, file.len, out), file.len);
    fclose(out);
    free(copy);
    file_bytes_unmap(&file);
}

/* Its entries would be 80 MiB more: above the limit of decompression for an id. */
static void a_large_compressed_package_is_known_by_its_index(void **state)
{
    (void)state;
    static const char *const packages[] = {"packed/gcc4.so.dwp", "packed/clang5.so.dwp"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        struct object_facts facts, large;
        char path[512], spoilt[128];
        snprintf(path, sizeof path, FIXTURES "%s", packages[i]);
        snprintf(spoilt, sizeof spoilt, "%s/spoilt", dir);
        damage(spoilt, packages[i], ".debug_info.dwo", offsetof(Elf64_Chdr, ch_size) + 3, 5);
        assert_true(facts_of(&facts, path));
        assert_true(facts_of(&large, spoilt));
        assert_memory_equal(&facts, &large, sizeof facts);
        unlink(spoilt);
    }
}

/* The damage is reported with the file; the same contents are not tried again, others are. */
static void a_damaged_split_file_is_told_and_gives_way_to_a_whole_one(void **state)
{
    (void)state;
    static const struct {
        const char *program, *split, *other, *section;
        size_t from;
        int flip;
    } rows[] = {
        {"gcc5.so", "gcc5.so-split.dwo", "gcc5.so-other.dwo", ".debug_info.dwo", 20, 0}, /* behind the header */
        {"gcc5.so", "gcc5.so-split.dwo", "gcc5.so-other.dwo", ".debug_info.dwo", 64, 0},
        {"gcc5.so", "gcc5.so-split.dwo", "gcc5.so-other.dwo", ".debug_info.dwo", 0, 0x80}, /* length of the unit */
        {"gcc5.so", "gcc5.so-split.dwo", "gcc5.so-other.dwo", ".debug_abbrev.dwo", 0, 0},
        {"gcc4.so", "gcc4.so.dwp", NULL, ".debug_info.dwo", 0, 0},
        {"gcc4.so", "gcc4.so.dwp", NULL, ".debug_info.dwo", 64, 0},
        {"clang5.so", "clang5.so.dwp", NULL, ".debug_info.dwo", 0, 0},
        {"clang5.so", "clang5.so.dwp", NULL, ".debug_abbrev.dwo", 0, 0},
        {"clang5.so", "clang5.so.dwp", NULL, ".debug_cu_index", 4, 0x40}, /* number of columns */
    };
    char spoilt[128], defect[MIRE_SYMBOL_WHY];
    snprintf(spoilt, sizeof spoilt, "%s/spoilt", dir);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        damage(spoilt, rows[i].split, rows[i].section, rows[i].from, rows[i].flip);
        memcpy(sent, (const char *[]){rows[i].program, spoilt, rows[i].other, NULL}, sizeof sent);
        damages = 0;
        for (int again = 0; again < 2; again++) {
            struct symbols *symbols = open_symbols();
            struct module *module = find(symbols, rows[i].program);
            assert_true(module_defect(defect, module) > 0);
            assert_non_null(strstr(defect, "1 split file is damaged"));
            assert_false(module_is_whole(module));
            assert_int_equal(module_missing_splits(module)->count, 1);
            assert_int_not_equal(address_of(module, "outer"), 0); /* named by the symbol table */
            symbols_close(symbols);
            assert_int_equal(damages, 1);
        }
        sent[1] = rows[i].split;
        struct symbols *symbols = open_symbols();
        assert_whole(find(symbols, rows[i].program));
        assert_true(module_is_whole(find(symbols, rows[i].program)));
        symbols_close(symbols);
        (void)cache_directory_make_room(dir, 1, 1);
    }
    unlink(spoilt);
}

static void copy(const char *to, const char *from, long spoil)
{
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    int byte;
    assert_non_null(in);
    assert_non_null(out);
    for (long at = 0; (byte = fgetc(in)) != EOF; at++)
        fputc(at == spoil ? byte ^ 1 : byte, out);
    fclose(in);
    fclose(out);
}

/* A truncated copy is beside the program; the whole one is uploaded. */
static void an_uploaded_package_is_used_before_the_one_beside_the_program(void **state)
{
    (void)state;
    char app[128], beside[128];
    struct object_facts facts;
    struct module *module;
    snprintf(app, sizeof app, "%s/app", dir);
    snprintf(beside, sizeof beside, "%s/app.dwp", dir);
    copy(app, FIXTURES "clang5.so", -1);
    damage(beside, "clang5.so.dwp", ".debug_info.dwo", 64, 0);
    assert_true(facts_of(&facts, app));
    local_images = true;
    for (int whole = 0; whole < 2; whole++) {
        sent[0] = whole ? "clang5.so.dwp" : NULL;
        struct symbols *symbols = open_symbols();
        assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, app, 0), 0);
        assert_int_equal(module_is_whole(module), whole);
        symbols_close(symbols);
    }
    local_images = false;
    unlink(app);
    unlink(beside);
}

static void assert_missing_alt(const char *how)
{
    char defect[MIRE_SYMBOL_WHY], given[MIRE_SYMBOL_WHY], hex[2 * MIRE_SYMBOL_ID_MAX + 1] = "";
    struct object_facts facts;
    struct symbols *symbols = open_symbols();
    struct module *module = find(symbols, DWZ "app.so");
    assert_true(facts_of(&facts, FIXTURES DWZ "common.debug"));
    assert_false(module_is_whole(module));
    assert_int_equal(module_defect(defect, module), !strcmp(how, "damaged"));
    hex_format(hex, facts.id, facts.id_len);
    snprintf(given, sizeof given, "its dwz file is %s (common.debug, %s)", how, hex);
    assert_string_equal(defect, given);
    const struct symbol_alt *alt = module_missing_alt(module);
    assert_int_equal(alt->id_len, facts.id_len);
    assert_memory_equal(alt->id, facts.id, facts.id_len);
    assert_int_equal(module_missing_splits(module)->count, 0);
    assert_int_not_equal(address_of(module, "outer"), 0); /* named by the symbol table */
    assert_false(has_chain(module, address_of(module, "outer"), 3, split_chain));
    symbols_close(symbols);
}

/* The shared part of several programs is in a dwz file; it is missing, then damaged in three ways, then whole. */
static void a_file_of_dwz_is_told_to_be_missing_and_put_in_when_it_comes(void **state)
{
    (void)state;
    char spoilt[128];
    snprintf(spoilt, sizeof spoilt, "%s/spoilt", dir);
    sent[0] = DWZ "app.so";
    assert_missing_alt("missing");
    sent[1] = spoilt;
    static const struct {
        const char *section;
        size_t from;
        int flip;
    } ways[] = {{".debug_info", 3, 0x40}, {".debug_abbrev", 0, 0}, {".debug_info", 17, 0x42}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        damage(spoilt, DWZ "common.debug", ways[i].section, ways[i].from, ways[i].flip);
        damages = 0;
        for (int again = 0; again < 2; again++) {
            assert_missing_alt("damaged");
            assert_int_equal(damages, 1);
        }
    }
    sent[1] = DWZ "common.debug";
    for (int again = 0; again < 2; again++) {
        asked = 0;
        struct symbols *symbols = open_symbols();
        struct module *module = find(symbols, DWZ "app.so");
        assert_whole(module);
        assert_true(module_is_whole(module));
        assert_null(module_missing_alt(module));
        symbols_close(symbols);
    }
    assert_int_equal(asked, 1); /* the second time the cache is whole: only its contents_id is asked for */
    unlink(spoilt);
}

/* The program alone, with its debug file at each possible path, and with another file there. */
static void a_file_named_by_debuglink_is_used_if_it_is_the_one(void **state)
{
    (void)state;
    static const char *const locations[] = {"app.dbg", ".debug/app.dbg"};
    char app[128], sub[128], debug[128], why[MIRE_SYMBOL_WHY];
    struct module *module;
    snprintf(app, sizeof app, "%s/app", dir);
    snprintf(sub, sizeof sub, "%s/.debug", dir);
    assert_int_equal(mkdir(sub, 0700), 0);
    copy(app, LINKED "app", -1);
    for (size_t i = 0; i < 2; i++)
        for (int spoilt = 0; spoilt < 2; spoilt++) {
            snprintf(debug, sizeof debug, "%s/%s", dir, locations[i]);
            copy(debug, LINKED "app.dbg", spoilt ? 100 : -1);
            assert_true(module_open(&module, why, app, NULL, 0, NULL, 0));
            assert_int_equal(has_chain(module, address_of(module, "outer"), 3, split_chain), !spoilt);
            module_close(module);
            unlink(debug);
        }
    unlink(app);
    rmdir(sub);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "symbol-child"))
        return symbols_child(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_files_are_told_from_programs_and_known_by_their_id),
        cmocka_unit_test_setup_teardown(uploaded_dwo_files_are_found_by_id, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(compressed_split_files_are_read, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_large_compressed_package_is_known_by_its_index, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_package_is_found_whatever_the_version, make_dir, remove_dir),
        cmocka_unit_test(what_lies_beside_a_file_at_hand_is_used),
        cmocka_unit_test_setup_teardown(a_file_named_by_debuglink_is_used_if_it_is_the_one, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_split_file_that_comes_later_is_put_in, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_damaged_split_file_is_told_and_gives_way_to_a_whole_one, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(an_uploaded_package_is_used_before_the_one_beside_the_program, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(a_file_of_dwz_is_told_to_be_missing_and_put_in_when_it_comes, make_dir,
                                        remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
