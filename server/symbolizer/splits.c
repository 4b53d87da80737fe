/*
 * splits.c - asks for split files by id, lowest first, since the lowest id identifies a package. A file that was not
 * uploaded is searched for beside the program. After a package was found, no further file is searched for.
 */
#include "symbolizer/splits.h"
#include "sandbox/child.h"
#include "object/member.h"
#include "symbolizer/search.h"

#include "base/bytes.h"
#include "base/write.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ID_LEN      MIRE_SYMBOL_SPLIT_ID
#define MISSES_MAX  64 /* ids tried without a hit; then no split file of the program was uploaded */
#define CONTENTS_ID 1  /* contents id of files beside the program, and of all files if options->contents_id is NULL */

struct gathering {
    const struct symbols_options *options;
    const char *beside;
    int fd;
    bool package; /* a package was found */
    bool failed;
    size_t found;
};

static uint64_t id_number(const uint8_t id[ID_LEN])
{
    uint64_t number = 0;
    for (unsigned i = 0; i < ID_LEN; i++)
        number = number << 8 | id[i];
    return number;
}

static void put(struct gathering *g, const struct child_split *split, const void *bytes)
{
    if (g->fd < 0)
        g->fd = g->options->cache_dir ? open(g->options->cache_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                                      : memfd_create("mire-splits", MFD_CLOEXEC);
    g->failed |= g->fd < 0 || !write_all(g->fd, split, sizeof *split) || !write_all(g->fd, bytes, split->len);
    g->found++;
    g->package |= split->package;
}

/* Add a file if it is a split file with that id; with id NULL, if it is a package. */
static bool take(struct gathering *g, const char *path, const uint8_t *id, uint64_t contents_id)
{
    struct object_facts facts;
    struct file_bytes file;
    if (!file_bytes_map(&file, path))
        return false;
    bool good = !object_look(&facts, file.bytes, file.len, NULL, 0) && facts.split &&
                (id ? !memcmp(facts.id, id, ID_LEN) : facts.package);
    if (good) {
        struct child_split split = {id_number(facts.id), contents_id, facts.package, file.len};
        put(g, &split, file.bytes);
    }
    file_bytes_unmap(&file);
    return good;
}

/* Get the contents id of an uploaded file. Returns 1, 0 if there is none, or a fault. */
static int find_contents_id(uint64_t *out, const struct symbols_options *options, const uint8_t id[ID_LEN])
{
    char path[PATH_MAX];
    *out = CONTENTS_ID;
    if (options->contents_id)
        return options->contents_id(options->uploaded_context, out, id, ID_LEN);
    return options->uploaded ? options->uploaded(options->uploaded_context, path, sizeof path, id, ID_LEN) : 0;
}

/* Length of the folder part of a path, with the slash. */
static int dir_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/*
 * Add a .dwo from the compiler's path, otherwise from beside the program: by its file name, then below the program's
 * folder with the last one, two, ... folders of the compiler's path.
 */
static bool take_file(struct gathering *g, const char *given, const uint8_t id[ID_LEN])
{
    char path[PATH_MAX];
    if (!g->beside[0] || !given[0])
        return false;
    if (take(g, given, id, CONTENTS_ID))
        return true;
    for (const char *end = given + strlen(given); end > given; end--)
        if ((end[-1] == '/' || end == given + 1) &&
            snprintf(path, sizeof path, "%.*s%s", dir_bytes(g->beside), g->beside, end[-1] == '/' ? end : given) <
                (int)sizeof path &&
            take(g, path, id, CONTENTS_ID))
            return true;
    return false;
}

/* Add an object file from the path the linker recorded, or from beside the program. "lib.a(cart.o)" is an archive's. */
static void take_object(struct gathering *g, const struct convert_want *want)
{
    char path[PATH_MAX];
    struct file_bytes whole, part;
    struct child_split split = {.id = want->id, .contents_id = CONTENTS_ID};
    bool found = member_map(&whole, &part, want->path);
    if (!found && snprintf(path, sizeof path, "%.*s%s", dir_bytes(g->beside), g->beside,
                           want->path + dir_bytes(want->path)) < (int)sizeof path)
        found = member_map(&whole, &part, path);
    if (!found)
        return;
    split.len = part.len;
    put(g, &split, part.bytes);
    file_bytes_unmap(&whole);
}

/* Returns 0 or a fault. The contents id is read before the file: if other contents arrive in between, the cache gets
 * the older id and is converted again. */
static int take_wanted(struct gathering *g, const struct convert_want *want)
{
    const struct symbols_options *options = g->options;
    struct child_split unread = {.id = want->id};
    char path[PATH_MAX];
    uint8_t id[ID_LEN];
    if (want->is_object) {
        if (g->beside[0])
            take_object(g, want);
        return 0;
    }
    split_id_bytes(id, want->id);
    int there = options->uploaded ? find_contents_id(&unread.contents_id, options, id) : 0;
    int rc = there > 0 ? options->uploaded(options->uploaded_context, path, sizeof path, id, ID_LEN) : there;
    if (rc < 0 || (rc > 0 && take(g, path, id, unread.contents_id)))
        return rc < 0 ? rc : 0;
    if (take_file(g, want->path, id))
        return 0;
    if (rc > 0)
        put(g, &unread, "");
    return 0;
}

/* Add the package named like `name`, with or without its last extension. */
static bool take_package(struct gathering *g, const char *dir, int dir_len, const char *name)
{
    char path[PATH_MAX];
    const char *dot = strrchr(name, '.');
    for (int i = 0; i < 2; i++) {
        int name_len = (int)strlen(name);
        if (i)
            name_len = dot > name ? (int)(dot - name) : 0;
        if (name_len && snprintf(path, sizeof path, "%.*s%.*s.dwp", dir_len, dir, name_len, name) < (int)sizeof path &&
            take(g, path, NULL, CONTENTS_ID))
            return true;
    }
    return false;
}

/* Look for app.dwp beside app, app.debug or app.dbg. For a debug file in a folder such as .debug/, look in the folder
 * above as well. */
static void take_beside(struct gathering *g)
{
    int dir = dir_bytes(g->beside);
    const char *name = g->beside + dir;
    if (!*name || take_package(g, g->beside, dir, name))
        return;
    int above = dir > 1 ? dir - 1 : 0;
    while (above && g->beside[above - 1] != '/')
        above--;
    if (above && g->beside[above] == '.')
        (void)take_package(g, g->beside, above, name);
}

int splits_gather(int *fd_out, const struct symbols_options *options, int wants, const char *beside)
{
    struct gathering g = {.options = options, .beside = beside, .fd = -1};
    struct convert_want want;
    int rc = 0;
    for (size_t i = 0; !rc && !g.package && (g.found || i < MISSES_MAX); i++) {
        if (pread(wants, &want, sizeof want, (off_t)(i * sizeof want)) != (ssize_t)sizeof want)
            break;
        want.path[sizeof want.path - 1] = '\0';
        rc = take_wanted(&g, &want);
        if (!i && !g.package && !want.is_object)
            take_beside(&g);
    }
    *fd_out = g.fd;
    if (rc)
        return rc;
    return g.failed ? -1 : 0;
}

int missing_files_came(const struct symbols_options *options, const struct module *module)
{
    const struct symbol_splits *missing_file = module_missing_splits(module);
    const struct symbol_alt *alt = module_missing_alt(module);
    uint64_t contents_id;
    int rc = 0;
    for (size_t i = 0; i < missing_file->count && !rc; i++) {
        rc = find_contents_id(&contents_id, options, missing_file->ids[i]);
        rc = rc > 0 ? contents_id != missing_file->contents_ids[i] : rc;
    }
    if (rc || !alt)
        return rc;
    rc = search_contents_id(&contents_id, options, alt->id, alt->id_len);
    return rc ? rc : contents_id && contents_id != alt->contents_id;
}
