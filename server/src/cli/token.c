/* token.c - personal tokens that `mire login` keeps: a line "SERVER TOKEN" each, in a file for this user alone. */
#include "cli/fetch.h"

#include "base/id.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1200

/* The folder, or the file in it. False: there is no home. */
static bool find_place(char out[PATH_MAX], const char *file)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (config && *config == '/')
        return snprintf(out, PATH_MAX, "%s/mire%s", config, file) < PATH_MAX;
    return home && *home && snprintf(out, PATH_MAX, "%s/.config/mire%s", home, file) < PATH_MAX;
}

/* Is the line of that server? Then its token begins at *token_out. */
static bool line_is_of(char *line, const char *server, char **token_out)
{
    size_t len = fetch_server_length(server);

    line[strcspn(line, "\r\n")] = '\0';
    *token_out = line + len + 1;
    return !strncmp(line, server, len) && line[len] == ' ';
}

const char *fetch_token(const char *server)
{
    static char token[MIRE_KEY_TEXT];
    char path[PATH_MAX], line[LINE_MAX_BYTES], *found;
    FILE *file MIRE_SCOPED(close_file) = find_place(path, "/tokens") ? fopen(path, "re") : NULL;

    while (file && fgets(line, sizeof line, file))
        if (line_is_of(line, server, &found) && key_is_wellformed(found, strlen(found))) {
            snprintf(token, sizeof token, "%s", found);
            return token;
        }
    return NULL;
}

static bool make_folder(void)
{
    char path[PATH_MAX], *slash;

    if (!find_place(path, ""))
        return false;
    slash = strrchr(path, '/');
    *slash = '\0';
    if (mkdir(path, 0700) && errno != EEXIST)
        return false;
    *slash = '/';
    return !mkdir(path, 0700) || errno == EEXIST;
}

bool fetch_keep_token(const char *server, const char *token)
{
    char path[PATH_MAX], aside[PATH_MAX], line[LINE_MAX_BYTES], *found;

    if (!make_folder() || !find_place(path, "/tokens") || !find_place(aside, "/tokens.new"))
        return false;
    unlink(aside);
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    FILE *in MIRE_SCOPED(close_file) = fopen(path, "re");
    if (!out)
        return false;
    while (in && fgets(line, sizeof line, in))
        if (!line_is_of(line, server, &found)) {
            fputs(line, out);
            fputc('\n', out);
        }
    if (token) {
        fwrite(server, 1, fetch_server_length(server), out);
        fputc(' ', out);
        fputs(token, out);
        fputc('\n', out);
    }
    return !fclose(out) && !rename(aside, path);
}
