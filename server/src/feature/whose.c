/* whose.c - the first row of whose.h that applies. */
#include "feature/whose.h"

#include "base/path.h"

#include <string.h>

/* Directories with files of many programs. A name at the end matches any: a processor's. */
static const char *const shared[] = {
    "/usr/lib/*-linux-*/", "/lib/*-linux-*/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/",
    "/usr/local/lib/",     "/usr/lib/",       "/lib32/",     "/lib64/",     "/lib/"};

/* The rest of a path after the shared directory; NULL: the path is in none. */
static const char *behind_shared(const char *path)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const char *star = strchr(shared[i], '*');
        size_t before = star ? (size_t)(star - shared[i]) : strlen(shared[i]);
        if (strncmp(path, shared[i], before) != 0)
            continue;
        const char *slash = star ? strchr(path + before, '/') : NULL;
        const char *middle = slash ? strstr(path + before, "-linux-") : NULL;
        if (!star)
            return path + before;
        if (middle && middle < slash)
            return slash + 1;
    }
    return NULL;
}

/* The program's own directory there has the program's name, evince/ or evince-43/, or contains the program. */
bool whose_folder(const char *module, const char *program)
{
    const char *name = path_base(program);
    const char *inside = behind_shared(module);
    size_t length = strlen(name);
    if (!inside || !strchr(inside, '/'))
        return false;
    if (length && !strncmp(inside, name, length) && (inside[length] == '/' || inside[length] == '-'))
        return true;
    size_t folder = (size_t)(strchr(inside, '/') + 1 - module);
    return !strncmp(module, program, folder);
}

static bool is_shared_folder(const char *module)
{
    const char *inside = behind_shared(module);
    return inside && !strchr(inside, '/');
}

enum whose whose_find(const struct report_image *image, const char *program, const struct rules_module *rules)
{
    if (!image)
        return rules->own ? MIRE_WHOSE_OWN : MIRE_WHOSE_UNKNOWN;
    if (rules->own || !strcmp(image->name, program))
        return MIRE_WHOSE_OWN;
    if (image->tie == MIRE_TIE_SAME || whose_folder(image->name, program))
        return is_shared_folder(image->name) ? MIRE_WHOSE_OWN : MIRE_WHOSE_BUNDLED;
    return image->tie == MIRE_TIE_OTHER ? MIRE_WHOSE_OTHER : MIRE_WHOSE_UNKNOWN;
}
