/*
 * packages_apk.c - apk: one text with every package and its files.
 */
#include "report/packages_db.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Where in the text we are. */
struct apk_cursor {
    const char *origin, *folder; /* values of lines */
    size_t origin_length, folder_length;
};

/* Is the file that a line "R:name" stands for the one asked about? */
static bool is_file(const struct package_file *file, const struct apk_cursor *at, const char *name, size_t length)
{
    char path[MIRE_PACKAGE_PATH_BYTES];
    struct package_file listed;

    if (at->folder_length + length + 3 > sizeof(path))
        return false;
    snprintf(path, sizeof(path), "/%.*s/%.*s", (int)at->folder_length, at->folder, (int)length, name);
    mire__package_file(&listed, path);
    return listed.length == file->length && memcmp(listed.path, file->path, file->length) == 0;
}

/* The next line's value; the place moves along. NULL: the end. *file_out: it is a file's. */
static const char *next_line(size_t *length_out, bool *file_out, struct apk_cursor *at, const char **text)
{
    const char *line = *text;
    size_t length = strcspn(line, "\n");

    if (!*line)
        return NULL;
    *text = line + length + (line[length] == '\n');
    *file_out = length > 2 && line[0] == 'R' && line[1] == ':';
    *length_out = length > 2 ? length - 2 : 0;
    if (length > 2 && line[1] == ':' && (line[0] == 'P' || line[0] == 'o')) { /* without an origin its name is that */
        at->origin = line + 2;
        at->origin_length = *length_out;
    }
    if (length >= 2 && line[1] == ':' && line[0] == 'F') {
        at->folder = line + 2;
        at->folder_length = *length_out;
    }
    return length > 2 ? line + 2 : line;
}

bool mire__packages_apk(const char *root, const struct package_file *program, struct package_file *files, size_t count)
{
    char path[MIRE_PACKAGE_PATH_BYTES];
    struct apk_cursor owner = {0}, at = {0};
    const char *rest, *name;
    size_t size, length;
    bool is_name;
    char *text;

    snprintf(path, sizeof(path), "%s/lib/apk/db/installed", root);
    text = mire__package_text(&size, AT_FDCWD, path);
    if (!text)
        return false;
    for (rest = text; !owner.origin && (name = next_line(&length, &is_name, &at, &rest));)
        if (is_name && is_file(program, &at, name, length))
            owner = at;
    at = (struct apk_cursor){0};
    for (rest = text; (name = next_line(&length, &is_name, &at, &rest));)
        for (size_t i = 0; is_name && i < count; i++)
            if (is_file(&files[i], &at, name, length)) {
                files[i].found = true;
                files[i].same = owner.origin && owner.origin_length == at.origin_length &&
                                memcmp(owner.origin, at.origin, at.origin_length) == 0;
            }
    mire__free(text);
    return owner.origin != NULL;
}
