/* test_store_ends.c - the ended runs that a store remembers, and files written aside whose writers may have ended. */
#include "store/disk.h"
#include "support/ended.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Start a writer that runs until its pipe is closed. Returns the pipe, and the process in *writer_out. */
static int begin_aside(pid_t *writer_out, const char *dir)
{
    char path[512], aside[MIRE_STORE_PATH_MAX];
    int ready[2], end[2];
    char byte;

    assert_int_equal(pipe(ready) | pipe(end), 0);
    snprintf(path, sizeof(path), "%s/ends", dir);
    *writer_out = fork();
    if (*writer_out == 0) {
        close(end[1]);
        if (mire__disk_create_aside(aside, path, O_WRONLY) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit((int)read(end[0], &byte, 1));
    }
    close(end[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return end[1];
}

static size_t count_asides(const char *dir)
{
    DIR *open = opendir(dir);
    size_t count = 0;

    for (struct dirent *entry; (entry = readdir(open));)
        count += strstr(entry->d_name, ".new") != NULL;
    closedir(open);
    return count;
}

static void an_aside_is_swept_once_its_writer_has_ended(void **state)
{
    struct store *store = store_default(*state);
    pid_t writer;
    int end = begin_aside(&writer, *state);

    recover(store);
    assert_int_equal(count_asides(*state), 1);
    close(end);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    recover(store);
    assert_int_equal(count_asides(*state), 0);
    mire__store_close(store);
}

/* Sweepers run all the time, and every write succeeds. */
static void a_write_survives_those_that_sweep(void **state)
{
    struct store *store = store_default(*state);
    const struct disk_part part = {"text", 4};
    pid_t sweepers[2];
    char path[512], text[8];

    for (size_t i = 0; i < 2; i++) {
        sweepers[i] = fork();
        if (sweepers[i] == 0)
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
        while (sweepers[i] == 0)
            recover(store);
    }
    snprintf(path, sizeof(path), "%s/text", (char *)*state);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(mire__disk_write(path, &part, 1, i % 2 ? MIRE_DISK_EXCLUSIVE : 0), MIRE_OK);
        assert_int_equal(mire__disk_read(text, sizeof(text), path), 4);
    }
    for (size_t i = 0; i < 2; i++) {
        kill(sweepers[i], SIGKILL);
        waitpid(sweepers[i], NULL, 0);
    }
    mire__store_close(store);
}

static struct store_end end_number(uint32_t number)
{
    struct store_end end = {.verdict = "foom", .confidence_ppm = number, .process = "a process  with blanks"};

    snprintf(end.run, sizeof(end.run), "%032x", number);
    return end;
}

static void the_last_ends_are_remembered_once_each(void **state)
{
    struct store *store = store_default(*state);
    struct store_end ends[MIRE_STORE_ENDS + 2];

    for (uint32_t i = 0; i < MIRE_STORE_ENDS + 5; i++) {
        struct store_end end = end_number(i);

        assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
        assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
    }
    assert_int_equal(mire__store_ends(ends, MIRE_STORE_ENDS + 2, store), MIRE_STORE_ENDS);
    assert_int_equal(ends[0].confidence_ppm, 5);
    assert_string_equal(ends[0].process, "a process  with blanks");
    assert_int_equal(mire__store_ends(ends, 2, store), 2);
    assert_int_equal(ends[1].confidence_ppm, MIRE_STORE_ENDS + 4);
    mire__store_close(store);
}

static void an_end_is_told_once(void **state)
{
    struct store *store = store_default(*state);
    struct store_end end = end_number(3), ends[2];

    assert_int_equal(mire__store_end_add(store, &end), MIRE_OK);
    assert_int_equal(mire__store_end_reported(store, end.run), MIRE_OK);
    assert_int_equal(mire__store_end_add(store, &end), MIRE_OK); /* judged again, it stays reported */
    assert_int_equal(mire__store_ends(ends, 2, store), 1);
    assert_true(ends[0].reported);
    mire__store_close(store);
}

static void of_the_first_version_a_line_that_cannot_be_read_is_left_out(void **state)
{
    struct store *store = store_default(*state);
    struct store_end ends[4];
    char path[MIRE_STORE_PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/ends", (char *)*state);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("00000000000000000000000000000003 0 foom 900000 1 2 7 map view\n12 0 foom 1 2 3 4 short\nnonsense\n\n"
          "00000000000000000000000000000004 0 foom x\n",
          file);
    fclose(file);
    assert_int_equal(mire__store_ends(ends, 4, store), 1);
    assert_string_equal(ends[0].process, "map view");
    assert_int_equal(ends[0].pid, 7);
    mire__store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_aside_is_swept_once_its_writer_has_ended),
        CASE(a_write_survives_those_that_sweep),
        CASE(the_last_ends_are_remembered_once_each),
        CASE(an_end_is_told_once),
        CASE(of_the_first_version_a_line_that_cannot_be_read_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
