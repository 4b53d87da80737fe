/*
 * alone.c - a program with one thread, for sdk_alone.py. It prints whether its C library knows that, and its threads.
 *
 *     alone [work] [user] [load] [end]     each step in turn
 */
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char __libc_single_threaded;

/* By dlsym, since an executable would have a copy of the variable. */
static void tell(const char *when)
{
    const char *single = dlsym(dlopen("libc.so.6", RTLD_LAZY), "__libc_single_threaded");

    printf("%s: %s\n", when, *single ? "alone" : "not alone");
    fflush(stdout);
}

static void spend(int ms)
{
    struct timespec now, begin;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Allocates much and little, and hangs twice: computing and sleeping. */
static void work(void)
{
    static void *kept[200000];

    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
            free(kept[i]);
            kept[i] = malloc(16 + i % 300);
        }
        poll(NULL, 0, 20);
    }
    spend(700);
    poll(NULL, 0, 20);
    usleep(700000);
    for (int turn = 0; turn < 150; turn++)
        poll(NULL, 0, 20);
}

static void tell_users(void)
{
    DIR *dir = opendir("/proc/self/task");
    char path[300], line[200];

    for (struct dirent *entry; (entry = readdir(dir));) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fgets(line, sizeof(line), file))
            if (strncmp(line, "Name:", 5) == 0 || strncmp(line, "Uid:", 4) == 0)
                printf("%s%s", strtok(line, "\n"), line[0] == 'N' ? " " : "\n");
        if (file)
            fclose(file);
    }
    closedir(dir);
    fflush(stdout);
}

/* Makes objects of a library loaded late: some at once, and others after the library is known. */
static void load(void)
{
    void *library = dlopen("libgio-2.0.so.0", RTLD_NOW);
    void *(*make)(void) = library ? (void *(*)(void))dlsym(library, "g_cancellable_new") : NULL;

    for (int turn = 0; make && turn < 200; turn++) {
        make();
        poll(NULL, 0, 20);
    }
    for (int i = 0; make && i < 500; i++)
        make();
    printf("library: %d\n", make != NULL);
}

int main(int count, char **words)
{
    tell("begin");
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "work") == 0)
            work();
        else if (strcmp(words[i], "user") == 0) {
            printf("setresuid: %d\n", setresuid(1234, 1234, 1234));
            tell_users();
        } else if (strcmp(words[i], "load") == 0) {
            load();
        } else if (strcmp(words[i], "end") == 0) {
            tell("end");
            pthread_exit(NULL);
        }
        tell(words[i]);
    }
    return 0;
}
