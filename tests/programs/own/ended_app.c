/*
 * ended_app.c - an app whose system keeps a record, with a trace, of how its runs ended:
 *
 *     ended_app STORE hang|idle                            prints the name of its run; stays until it is killed
 *     ended_app STORE start URL KEY RUN END STATUS TRACE   the next start, told by the system of that end; sends, then ends
 *
 * END is a number of enum mire_end, TRACE a file.
 */
#include <mire/exit.h>
#include <mire/mire.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One instruction: without names each address is a function of its own, and this one must have most of the samples. */
__attribute__((noinline)) static void planted_stay(void)
{
    for (;;)
        ;
}

static size_t read_file(void *path, const char *run, void *out, size_t cap)
{
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(out, 1, cap, file) : 0;

    (void)run;
    if (file)
        fclose(file);
    return size;
}

int main(int count, char **words)
{
    mire_options *options = mire_options_new();
    enum mire_err err = mire_options_set_app(options, "ended-app", "1");

    mire_options_set_store(options, words[1]);
    mire_options_set_channel(options, "internal");
    mire_options_set_number(options, "foreground_ms", 500);
    if (count == 9) {
        mire_options_set_server(options, words[3], words[4]);
        err = mire_options_add_end(options, words[5], (enum mire_end)atoi(words[6]), atoi(words[7]));
        mire_options_set_trace(options, read_file, words[8]);
    }
    if (err == MIRE_OK)
        err = mire_start(options);
    mire_options_free(options);
    if (err != MIRE_OK)
        return 1;
    if (count != 9) {
        printf("%s\n", mire_run());
        fflush(stdout);
        poll(NULL, 0, 100);
        if (strcmp(words[2], "hang") == 0)
            planted_stay();
        for (;;)
            poll(NULL, 0, 50);
    }
    poll(NULL, 0, 500);
    err = mire_flush(60000);
    mire_stop(NULL);
    return err != MIRE_OK;
}
