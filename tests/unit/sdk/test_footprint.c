/* test_footprint.c - the cgroup of a process, its memory limit, and its footprint. */
#include "platform/footprint.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static const char own_hierarchy[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
static const char unified[] = "24 1 0:22 / /proc rw - proc proc rw\n"
                              "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

static void assert_found(const char *cgroup, const char *mountinfo, const char *dir, uint32_t top)
{
    struct cgroup found;

    mire__cgroup_from(&found, cgroup, mountinfo);
    assert_string_equal(found.dir, dir);
    assert_int_equal(found.top, top);
}

static void the_memory_controllers_own_hierarchy_is_preferred(void **state)
{
    (void)state;
    assert_found("5:devices:/a\n4:memory:/user/app\n1:cpu,cpuacct:/b\n0::/c\n", own_hierarchy,
                 "/sys/fs/cgroup/memory/user/app", 21);
    assert_found("4:cpu,memory:/x\n", "9 1 0:1 / /m rw - cgroup cgroup rw,cpu,memory\n", "/m/x", 2);
}

static void the_unified_hierarchy_is_taken_where_there_is_no_other(void **state)
{
    (void)state;
    assert_found("0::/user.slice/app.scope\n", unified, "/sys/fs/cgroup/user.slice/app.scope", 14);
    assert_found("0::/\n", unified, "/sys/fs/cgroup", 14);
}

static void a_container_sees_its_own_part(void **state)
{
    (void)state;
    assert_found("0::/docker/5f\n", "29 23 0:26 /docker/5f /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "/sys/fs/cgroup",
                 14);
    assert_found("0::/docker/5f/in\n", "29 23 0:26 /docker/5f /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
                 "/sys/fs/cgroup/in", 14);
}

static void what_is_not_mounted_here_is_not_found(void **state)
{
    (void)state;
    assert_found("4:memory:/elsewhere\n", "29 23 0:26 /docker/5f /m ro - cgroup c rw,memory\n", "", 0);
    assert_found("0::/../above\n", unified, "", 0);
    assert_found("3:cpu:/\n", own_hierarchy, "", 0);
    assert_found("", "", "", 0);
    assert_found("::\n0:memoryx:/\nnonsense", "1 2\n - cgroup", "", 0);
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A cgroup inside another one; `dir` gets the inner one. */
static struct cgroup groups(const char *scratch, char outer[512])
{
    struct cgroup cgroup = {.top = (uint32_t)strlen(scratch)};
    struct stat info;

    snprintf(outer, 512, "%s/outer", scratch);
    snprintf(cgroup.dir, sizeof(cgroup.dir), "%s/inner", outer);
    assert_int_equal(mkdir(outer, 0700), 0);
    assert_int_equal(mkdir(cgroup.dir, 0700), 0);
    assert_int_equal(stat(cgroup.dir, &info), 0);
    cgroup.inode = info.st_ino;
    return cgroup;
}

static void the_limit_that_leaves_the_least_holds(void **state)
{
    struct memory_room room;
    char outer[512];
    struct cgroup cgroup = groups(*state, outer);

    mire__memory_room(&room, &cgroup);
    assert_int_equal(room.limit, MIRE_LIMIT_MACHINE);
    assert_true(room.used_bytes < room.limit_bytes && room.available_bytes == room.limit_bytes - room.used_bytes);
    put(outer, "memory.max", "67108864\n");
    put(outer, "memory.current", "33000000\n");
    put(cgroup.dir, "memory.max", "max\n");
    put(cgroup.dir, "memory.current", "1000\n");
    mire__memory_room(&room, &cgroup);
    assert_int_equal(room.limit, MIRE_LIMIT_CGROUP);
    assert_int_equal(room.limit_bytes, 64 * MIB);
    assert_int_equal(room.used_bytes, 33000000);
    put(cgroup.dir, "memory.max", "20971520\n");
    mire__memory_room(&room, &cgroup);
    assert_int_equal(room.limit_bytes, 20 * MIB);
    assert_int_equal(room.used_bytes, 1000);
}

static void what_the_kernel_can_drop_does_not_count(void **state)
{
    struct memory_room room;
    char outer[512];
    struct cgroup cgroup = groups(*state, outer);

    put(cgroup.dir, "memory.limit_in_bytes", "67108864\n");
    put(cgroup.dir, "memory.usage_in_bytes", "60000000\n");
    put(cgroup.dir, "memory.stat", "cache 1\ntotal_cache 50000000\ntotal_rss 9000000\ntotal_shmem 4000000\n");
    mire__memory_room(&room, &cgroup);
    assert_int_equal(room.used_bytes, 60000000 - 50000000 + 4000000);
    put(cgroup.dir, "memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    mire__memory_room(&room, &cgroup);
    assert_int_equal(room.limit, MIRE_LIMIT_MACHINE);
}

static void oom_kills_are_counted_by_either_kind_of_group(void **state)
{
    struct oom_counts counts;
    char outer[512];
    struct cgroup cgroup = groups(*state, outer);

    mire__oom_counts(&counts, &cgroup);
    assert_false(counts.cgroup_known);
    put(cgroup.dir, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    mire__oom_counts(&counts, &cgroup);
    assert_true(counts.cgroup_known && counts.cgroup == 3);
    put(cgroup.dir, "memory.events", "low 0\nhigh 9\nmax 8\noom 7\noom_kill 5\noom_group_kill 0\n");
    mire__oom_counts(&counts, &cgroup);
    assert_true(counts.cgroup_known && counts.cgroup == 5);
}

static void a_group_made_anew_is_another_one(void **state)
{
    struct oom_counts counts;
    char outer[512];
    struct cgroup cgroup = groups(*state, outer);

    put(cgroup.dir, "memory.events", "oom_kill 0\n");
    cgroup.inode++;
    mire__oom_counts(&counts, &cgroup);
    assert_false(counts.cgroup_known);
}

static void pressure_is_read_to_the_hundredth(void **state)
{
    char outer[512];
    struct cgroup cgroup = groups(*state, outer);

    put(cgroup.dir, "memory.pressure", "some avg10=12.34 avg60=1.00 avg300=0.00 total=9\nfull avg10=99.00\n");
    assert_int_equal(mire__memory_pressure_ppm(&cgroup), 123400);
    put(cgroup.dir, "memory.pressure", "some avg10=100.00 avg60=1.00 avg300=0.00 total=9\n");
    assert_int_equal(mire__memory_pressure_ppm(&cgroup), 1000000);
    put(cgroup.dir, "memory.pressure", "nonsense");
    assert_int_equal(mire__memory_pressure_ppm(&cgroup), 0);
}

static void the_footprint_is_what_the_process_wrote(void **state)
{
    struct footprint before, after;
    char *memory;

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it writes four bytes of its own for each */
#endif
    mire__footprint(&before);
    memory = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 1, 32 * MIB);
    mire__footprint(&after);
    assert_in_range(after.bytes - before.bytes, 31 * MIB, 40 * MIB);
    assert_true(after.peak_rss_bytes >= after.bytes && after.thread_count == before.thread_count && !after.traced);
    munmap(memory, 32 * MIB);
    mire__footprint(&after);
    assert_true(after.bytes < before.bytes + 8 * MIB);
}

static void open_descriptors_are_counted(void **state)
{
    uint32_t before = mire__fd_count();
    int fd = open("/dev/null", O_RDONLY);

    (void)state;
    assert_true(fd >= 0 && before >= 1);
    assert_int_equal(mire__fd_count(), before + 1);
    close(fd);
    assert_int_equal(mire__fd_count(), before);
}

static void this_process_has_a_group_that_counts_or_none(void **state)
{
    struct cgroup cgroup;
    struct oom_counts counts;

    (void)state;
    mire__cgroup_find(&cgroup);
    mire__oom_counts(&counts, &cgroup);
    assert_int_equal(cgroup.dir[0] != '\0', cgroup.inode != 0);
    assert_true(counts.system_known || access("/proc/vmstat", R_OK) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_memory_controllers_own_hierarchy_is_preferred),
        cmocka_unit_test(the_unified_hierarchy_is_taken_where_there_is_no_other),
        cmocka_unit_test(a_container_sees_its_own_part),
        cmocka_unit_test(what_is_not_mounted_here_is_not_found),
        cmocka_unit_test_setup_teardown(the_limit_that_leaves_the_least_holds, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(what_the_kernel_can_drop_does_not_count, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(oom_kills_are_counted_by_either_kind_of_group, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(a_group_made_anew_is_another_one, scratch_new, scratch_free),
        cmocka_unit_test_setup_teardown(pressure_is_read_to_the_hundredth, scratch_new, scratch_free),
        cmocka_unit_test(the_footprint_is_what_the_process_wrote),
        cmocka_unit_test(open_descriptors_are_counted),
        cmocka_unit_test(this_process_has_a_group_that_counts_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
