/* symbols_pick.c - see symbols_pick.h. */
#include "cli/symbols_pick.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The one DWARF file in a bundle; the path unchanged if there is none, or more than one. */
static void find_file(struct pick *out, const char *path)
{
    struct stat st;
    char pattern[PATH_MAX];

    glob_t found;
    snprintf(out->path, sizeof out->path, "%s", path);
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode) ||
        snprintf(pattern, sizeof pattern, "%s/Contents/Resources/DWARF/*", path) >= (int)sizeof pattern)
        return;
    if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
        snprintf(out->path, sizeof out->path, "%s", found.gl_pathv[0]);
    globfree(&found);
}

void symbols_pick(struct pick *out, const char *path)
{
    struct file_bytes file;
    struct object_facts facts;
    uint64_t at, len;

    *out = (struct pick){0};
    find_file(out, path);
    if (!file_bytes_map(&file, out->path))
        return;
    while (out->count < MIRE_PICK_MAX && object_slice(&at, &len, file.bytes, file.len, out->count)) {
        struct pick_slice *slice = &out->slices[out->count++];
        slice->arch = object_slice_arch(file.bytes + at, (size_t)len);
        if (!object_look(&facts, file.bytes + at, (size_t)len, NULL, 0)) {
            memcpy(slice->id, facts.id, facts.id_len);
            slice->id_len = facts.id_len;
        }
    }

    file_bytes_unmap(&file);
}

bool symbols_pick_is(const struct pick_slice *slice, const char *arch)
{
    static const char *const ours[][2] = {{"aarch64", "arm64"}, {"x86", "i386"}, {"arm", "armv7"}};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcmp(arch, ours[i][0]))
            arch = ours[i][1];
    return !strcmp(slice->arch, arch);
}

void symbols_pick_list(char *out, size_t room, const struct pick *pick)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < pick->count && len < room; i++)
        len += (size_t)snprintf(out + len, room - len, "%s%s", i ? ", " : "", pick->slices[i].arch);
}
