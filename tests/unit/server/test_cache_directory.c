/* Caches: made once, by a sandboxed child, and removed when room is needed. */
#include "sandbox/child.h"
#include "symbolizer/cache_directory.h"
#include "symbolizer/symbolizer.h"
#include "object/object.h"
#include "sandbox/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

extern char __executable_start[];

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

__attribute__((noinline, used)) static int outer_function(int n)
{
    return n * 3 + 1;
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

static char dir[] = "/tmp/mire-shelf-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    (void)cache_directory_make_room(dir, 1, 1);
    char lock[128];
    snprintf(lock, sizeof lock, "%s/converting", dir);
    unlink(lock);
    return rmdir(dir);
}

static struct symbols_options kept_in_dir(const char *file)
{
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    options.uploaded = uploaded;
    options.uploaded_context = (void *)(uintptr_t)file;
    options.cache_dir = dir;
    options.converter = "/proc/self/exe";
    return options;
}

static struct object_facts facts_of(const char *path)
{
    size_t len;
    struct object_facts facts;
    unsigned char *bytes = slurp(&len, path);
    assert_null(object_look(&facts, bytes, len, NULL, 0));
    free(bytes);
    return facts;
}

/* Find a module in a fresh struct symbols, as in a new process. Returns true if it was found. */
static bool found(const struct symbols_options *options, const struct object_facts *facts)
{
    struct symbols *symbols;
    struct module *module;
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    assert_int_equal(symbols_open(&symbols, options), 0);
    assert_int_equal(symbols_find(&module, symbols, facts->id, facts->id_len, "/x", 0), 0);
    bool any = module != NULL;
    if (any) {
        assert_int_equal(module_lookup(frames, module, address_of((void *)outer_function)), 1);
        assert_string_equal(frames[0].function, "outer_function");
    }
    symbols_close(symbols);
    return any;
}

static void a_file_is_converted_once_and_its_cache_is_enough(void **state)
{
    (void)state;
    struct object_facts facts = facts_of(self_path);
    struct symbols_options options = kept_in_dir(self_path);
    uploaded_calls = 0;
    assert_true(found(&options, &facts));
    assert_int_equal(uploaded_calls, 1);
    options.uploaded_context = NULL; /* the file is gone */
    options.converter = "/nowhere";
    assert_true(found(&options, &facts));
    assert_int_equal(uploaded_calls, 1); /* the callback was not called */
}

static void cache_path(char *path, size_t room, const struct object_facts *facts)
{
    int len = snprintf(path, room, "%s/", dir);
    for (size_t i = 0; i < facts->id_len; i++)
        len += snprintf(path + len, room - (size_t)len, "%02x", facts->id[i]);
    snprintf(path + len, room - (size_t)len, ".debug.cache");
}

static void a_cache_that_is_damaged_is_made_anew(void **state)
{
    (void)state;
    char path[256];
    struct object_facts facts = facts_of(self_path);
    struct symbols_options options = kept_in_dir(self_path);
    assert_true(found(&options, &facts));
    cache_path(path, sizeof path, &facts);
    assert_int_equal(truncate(path, 4000), 0);
    assert_true(found(&options, &facts));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 4000);
}

static unsigned refused_calls;

static void refused(void *context, const char *path, const char *why)
{
    (void)context;
    (void)path;
    assert_true(why[0] != '\0');
    refused_calls++;
}

/* Change each DWARF section of this program, and write it to a file. */
static void write_changed(const char *path, void (*change)(unsigned char *row, unsigned char *section, uint64_t size))
{
    size_t len;
    unsigned char *bytes = slurp(&len, self_path);
    uint64_t table;
    uint16_t count;
    memcpy(&table, bytes + 0x28, 8);
    memcpy(&count, bytes + 0x3c, 2);
    for (unsigned i = 1; i < count; i++) {
        unsigned char *row = bytes + table + 64u * i;
        uint64_t address, offset, size;
        memcpy(&address, row + 0x10, 8);
        memcpy(&offset, row + 0x18, 8);
        memcpy(&size, row + 0x20, 8);
        if (!address && row[4] == 1 && size >= 100) /* not loaded, and bytes */
            change(row, bytes + offset, size);
    }
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
    free(bytes);
}

/* The section claims to be compressed, and is not. */
static void spoil(unsigned char *row, unsigned char *section, uint64_t size)
{
    (void)size;
    row[9] |= 8; /* SHF_COMPRESSED */
    memcpy(section, (const uint32_t[]){1 /* zlib */, 0, 1000, 0, 1, 0}, 24);
}

/* Zeros, as in an interrupted copy into preallocated space. */
static void blank(unsigned char *row, unsigned char *section, uint64_t size)
{
    (void)row;
    memset(section, 0, size);
}

static void a_file_that_cannot_be_converted_is_tried_once_a_day_or_when_it_is_sent_anew(void **state)
{
    (void)state;
    char spoilt[256];
    char path[256];
    struct object_facts facts = facts_of(self_path);
    snprintf(spoilt, sizeof spoilt, "%s/upload.debug", dir);
    write_changed(spoilt, spoil);
    struct symbols_options options = kept_in_dir(spoilt);
    options.refused = refused;
    refused_calls = 0;
    uploaded_calls = 0;
    assert_false(found(&options, &facts));
    assert_int_equal(refused_calls, 1);
    assert_false(found(&options, &facts));
    assert_int_equal(refused_calls, 1);
    cache_path(path, sizeof path, &facts);
    assert_int_equal(utime(path, &(struct utimbuf){1, 1}), 0); /* long ago */
    assert_false(found(&options, &facts));
    assert_int_equal(refused_calls, 2);
    options.uploaded_context = self_path; /* uploaded again, at another path */
    assert_true(found(&options, &facts));
    assert_int_equal(refused_calls, 2);
}

static uint64_t contents_id_now;
static int64_t arrivals_now;

static int contents_id(void *context, uint64_t *out, const uint8_t *id, size_t id_len)
{
    (void)context;
    (void)id;
    (void)id_len;
    *out = contents_id_now;
    return contents_id_now != 0;
}

static int arrivals(void *context, int64_t *count_out)
{
    (void)context;
    *count_out = arrivals_now;
    return 0;
}

static void a_file_with_other_contents_takes_the_place_of_what_was_converted(void **state)
{
    (void)state;
    char damaged[256];
    struct symbols *symbols;
    struct module *module;
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    struct object_facts facts = facts_of(self_path);
    snprintf(damaged, sizeof damaged, "%s/upload.debug", dir);
    write_changed(damaged, blank);
    struct symbols_options options = kept_in_dir(damaged);
    options.contents_id = contents_id;
    options.arrivals = arrivals;
    options.refused = refused;
    refused_calls = 0;
    contents_id_now = 1;
    uploaded_calls = 0;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
    assert_int_equal(refused_calls, 1);
    assert_int_equal(module_kind(module), MIRE_SYMBOLS_DEBUG);
    assert_false(module_is_whole(module)); /* there are no lines, though DWARF was there */
    assert_int_equal(module_lookup(frames, module, address_of((void *)outer_function)), 1);
    assert_null(frames[0].file);
    assert_int_equal(uploaded_calls, 1);
    symbols_close(symbols);

    options.uploaded_context = self_path; /* the whole file */
    contents_id_now = 2;
    arrivals_now++;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    for (int i = 0; i < 3; i++, arrivals_now++) { /* other arrivals are no reason to convert it again */
        assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
        assert_true(module_is_whole(module));
        assert_int_equal(uploaded_calls, 2);
        assert_int_equal(refused_calls, 1);
    }
    symbols_close(symbols);
}

static void one_that_is_open_is_closed_for_another_edition(void **state)
{
    (void)state;
    struct symbols *symbols;
    struct module *module;
    struct object_facts facts = facts_of(self_path);
    struct symbols_options options = kept_in_dir(self_path);
    options.contents_id = contents_id;
    options.arrivals = arrivals;
    contents_id_now = 1;
    uploaded_calls = 0;
    assert_int_equal(symbols_open(&symbols, &options), 0);
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
    contents_id_now = 2;
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
    assert_int_equal(uploaded_calls, 1); /* nothing has come */
    arrivals_now++;
    assert_int_equal(symbols_find(&module, symbols, facts.id, facts.id_len, "/x", 0), 0);
    assert_int_equal(uploaded_calls, 2);
    assert_true(module_is_whole(module));
    symbols_close(symbols);
}

static void a_child_that_does_not_start_is_not_the_files_fault(void **state)
{
    (void)state;
    struct object_facts facts = facts_of(self_path);
    struct symbols_options options = kept_in_dir(self_path);
    options.converter = "/nowhere";
    assert_false(found(&options, &facts));
    options.converter = "/proc/self/exe";
    assert_true(found(&options, &facts));
}

static void *say_yes(void *context)
{
    *(bool *)context = true;
    return NULL;
}

/* Actions of a hostile file that took over the child; threads are allowed. */
static int try_things(void)
{
    sandbox_enter();
    if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EPERM)
        return 1;
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        return 2;
    if (execl("/bin/true", "true", (char *)NULL) == 0 || errno != EPERM)
        return 3;
    if (kill(getppid(), 0) == 0 || errno != EPERM)
        return 4;
    pid_t pid = fork();
    if (!pid)
        _exit(0);
    if (pid > 0 || errno != EPERM)
        return 6;
    pthread_t thread;
    bool ran = false;
    if (pthread_create(&thread, NULL, say_yes, &ran) != 0 || pthread_join(thread, NULL) != 0 || !ran)
        return 7;
    return mmap(NULL, 8ull << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 0 : 5;
}

static void a_child_that_is_taken_over_can_do_nothing(void **state)
{
    (void)state;
    int status;
    if (!sandbox_is_whole())
        skip();
    pid_t pid = fork();
    if (!pid)
        _exit(try_things());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_was_used_longest_ago_makes_room(void **state)
{
    (void)state;
    char path[256];
    struct stat st;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%02x.debug.cache", dir, i);
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(path, 1, 100, file), 100);
        fclose(file);
        assert_int_equal(utime(path, &(struct utimbuf){1000 - i, 1000 - i}), 0);
    }
    assert_int_equal(cache_directory_make_room(dir, 400, 0), 0);
    assert_int_equal(cache_directory_make_room(dir, 400, 150), 2);
    assert_int_not_equal(stat(path, &st), 0); /* the last one was the oldest */
    snprintf(path, sizeof path, "%s/00.debug.cache", dir);
    assert_int_equal(stat(path, &st), 0);
}

int main(int argc, char **argv)
{
    ssize_t len = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
    if (argc > 1 && !strcmp(argv[1], "symbol-child"))
        return symbols_child(argc - 1, argv + 1);
    if (len <= 0)
        return 1;
    self_path[len] = '\0';
#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        WITH_DIR(a_file_is_converted_once_and_its_cache_is_enough),
        WITH_DIR(a_cache_that_is_damaged_is_made_anew),
        WITH_DIR(a_file_that_cannot_be_converted_is_tried_once_a_day_or_when_it_is_sent_anew),
        WITH_DIR(a_file_with_other_contents_takes_the_place_of_what_was_converted),
        WITH_DIR(one_that_is_open_is_closed_for_another_edition),
        WITH_DIR(a_child_that_does_not_start_is_not_the_files_fault),
        cmocka_unit_test(a_child_that_is_taken_over_can_do_nothing),
        WITH_DIR(what_was_used_longest_ago_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
