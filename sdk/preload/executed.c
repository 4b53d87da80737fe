/*
 * executed.c - see executed.h.
 */
#include "preload/executed.h"

#include "preload/arguments.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "/libmire-preload.so"

/* Where it cannot be read, the library counts as loaded. */
static bool has_loaded(uint32_t pid)
{
    char path[32], *line = NULL;
    size_t size = 0;
    bool loaded = false;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    maps = fopen(path, "re");
    if (!maps)
        return true;
    while (!loaded && getline(&line, &size, maps) > 0)
        loaded = strstr(line, LIBRARY) != NULL;
    free(line);
    loaded |= ftell(maps) == 0; /* of an ended process it is empty */
    fclose(maps);
    return loaded;
}

static bool read_file_of(char out[PATH_MAX], const char *process)
{
    char path[64];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%s/exe", process);
    length = readlink(path, out, PATH_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
    return length > 0;
}

void executed_init(struct executed *executed, const char *program)
{
    memset(executed, 0, sizeof(*executed));
    if (!realpath(program, executed->program))
        executed->program[0] = '\0';
}

void executed_look(struct executed *executed)
{
    uint32_t pid = atomic_load(&executed->pid);
    char process[16], file[PATH_MAX], own[PATH_MAX];

    snprintf(process, sizeof(process), "%u", pid);
    if (pid == 0 || executed->reported || !read_file_of(file, process) || !read_file_of(own, "self"))
        return;
    if (strcmp(file, executed->program) == 0 || strcmp(file, own) == 0 || has_loaded(pid)) {
        executed->suspect[0] = '\0';
        return;
    }
    if (strcmp(file, executed->suspect) == 0) {
        run_complain("warning: the program has executed", file,
                     "not watched, because it was given no LD_PRELOAD, has privileges of its own, or has no loader");
        executed->reported = true;
    }
    memcpy(executed->suspect, file, sizeof(file));
}
