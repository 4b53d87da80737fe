/*
 * machine.c - runs a program for macOS with libmire as it is for macOS, on Linux (machine.h); and judges what the memory
 * tables of a killed run say.
 *
 *     apple_machine run LIBMALLOC LIBMIRE APP LIMIT_MIB ARGUMENT...    calls app_main of the app
 *     apple_machine judge HEAP TRUTH APP                     prints "seen in_flight calls", or the first difference
 */
#include "apple/machine.h"
#include "apple/macho.h"
#include "apple/memory_truth.h"
#include "heapread/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct macho libmalloc, mire, app;

/* ---- running ---- */

static void *machine_truth(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *truth = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct memory_truth)) == 0)
        truth = mmap(NULL, sizeof(struct memory_truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (truth == MAP_FAILED)
        exit(1);
    return truth;
}

static void die_of(const char *name)
{
    fprintf(stderr, "the program called %s, which the machine does not have\n", name);
    _exit(9);
}

/* Code that calls die_of with a name: movabs $name, %rdi; movabs $die_of, %rax; jmp *%rax */
static void *not_there(const char *name)
{
    static const unsigned char code[] = {0x48, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0,    0x48,
                                         0xb8, 0,    0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    static unsigned char *room, *end;
    void (*die)(const char *) = die_of;
    unsigned char *at;

    if (room == end) {
        room = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = room + 65536 / sizeof(code) * sizeof(code);
    }
    at = room;
    room += sizeof(code);
    memcpy(at, code, sizeof(code));
    memcpy(at + 2, &name, sizeof(name));
    memcpy(at + 12, &die, sizeof(die));
    return at;
}

static void *resolve(void *context, const char *name)
{
    void *(*const finders[])(const char *) = {files_find,  memory_find,  threads_find,
                                              system_find, runtime_find, classes_find};
    void *found = strcmp(name, "_machine_truth") == 0 ? (void *)machine_truth : NULL;

    for (size_t i = 0; !found && i < MACHINE_COUNT(finders); i++)
        found = finders[i](name);
    for (const struct macho **image = context; !found && *image; image++)
        found = macho_find(*image, name);
    return found ? found : not_there(name);
}

static int run(int count, char **arguments)
{
    static const struct macho *nothing[] = {NULL}, *malloc_alone[] = {&libmalloc, NULL},
                              *all[] = {&libmalloc, &mire, NULL};
    struct {
        struct macho *image;
        const struct macho **needs;
    } images[MACHINE_IMAGES] = {{&mire, malloc_alone}, {&libmalloc, nothing}, {&app, all}};
    int (*app_main)(int, char **);

    for (size_t i = 0; i < MACHINE_IMAGES; i++) {
        size_t which = i == 0 ? 1 : i == 1 ? 0 : 2; /* libmalloc first */

        if (!macho_read(images[which].image, arguments[i], 0) ||
            !macho_load(images[which].image, resolve, images[which].needs))
            return 1;
        system_set_image(which, images[which].image, arguments[i]);
        macho_start(images[which].image);
    }
    classes_set_program(&app);
    system_set_limit(strtoull(arguments[3], NULL, 10) << 20);
    app_main = (int (*)(int, char **))macho_find(&app, "_app_main");
    return app_main ? app_main(count - 4, arguments + 4) : 1;
}

/* ---- judging ---- */

static struct {
    const struct memory_truth *truth;
    struct heap_reader reader;
    uint64_t seen, in_flight, unexplained;
    bool found[TRUTH_SLOTS];
} judging;

static void *map_file(const char *path, size_t *size_out)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &info) == 0)
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    *size_out = (size_t)info.st_size;
    return bytes;
}

/* The innermost function of a stack that is a site of the app's; "" if none is. */
static const char *site_of(uint32_t node, uint32_t *depth_out)
{
    struct heap_read_image image;
    struct heap_frame frame;
    const char *site = "";

    for (*depth_out = 0; mire__read_frame(&frame, &judging.reader, &node); ++*depth_out) {
        const char *name;

        if (site[0] || !mire__read_image(&image, &judging.reader, frame.image) || image.path_bytes < 4 ||
            memcmp(image.path + image.path_bytes - 3, "app", 3) != 0)
            continue;
        app.base = (uint8_t *)(uintptr_t)(image.load + image.base);
        name = macho_name(&app, frame.address);
        site = strncmp(name, "_site_", 6) == 0 ? name : "";
    }
    return site;
}

static int slot_of(uint64_t address)
{
    for (int i = 0; i < TRUTH_SLOTS; i++)
        if (judging.truth->slots[i].address == address && !judging.truth->slots[i].changing)
            return i;
    return -1;
}

static void complain(const char *what, uint64_t address, uint64_t size, const char *site)
{
    printf("%s: block %llx of %llu bytes, %s\n", what, (unsigned long long)address, (unsigned long long)size, site);
    exit(3);
}

static bool on_block(void *context, const struct heap_live *live)
{
    uint32_t depth;
    const char *site = site_of(live->node, &depth);
    int slot = slot_of(live->address);

    (void)context;
    if (slot < 0) {
        judging.unexplained += strncmp(site, "_site_", 6) == 0;
        return true;
    }
    if (judging.found[slot])
        complain("it is there twice", live->address, live->size, site);
    if (live->size != judging.truth->slots[slot].size)
        complain("another size", live->address, live->size, site);
    if (strncmp(site, "_site_", 6) != 0 || strcmp(site + 6, judging.truth->sites[judging.truth->slots[slot].site]) != 0)
        complain("another site", live->address, live->size, site);
    if (depth < 2)
        complain("a short stack", live->address, live->size, site);
    judging.found[slot] = true;
    judging.seen++;
    return true;
}

static int judge(char **arguments)
{
    size_t heap_size, truth_size;
    const void *heap = map_file(arguments[0], &heap_size);
    struct heap_facts facts;

    judging.truth = map_file(arguments[1], &truth_size);
    if (!macho_read(&app, arguments[2], 0) || mire__read_open(&judging.reader, heap, heap_size) != MIRE_READ_OK)
        return 1;
    mire__read_facts(&facts, &judging.reader);
    /* malloc_logger tells a move late: a block may be told to begin inside the old one, which is dropped then. */
    for (int i = 0; i < MIRE_HEAP_DROPS; i++)
        if (facts.drops[i] > 0 && i != MIRE_HEAP_DROP_OVERLAP)
            complain(mire__read_drop_name((enum heap_drop)i), 0, facts.drops[i], "dropped");
    mire__read_blocks(&judging.reader, on_block, NULL);
    for (int i = 0; i < TRUTH_SLOTS; i++) {
        const struct truth_slot *slot = &judging.truth->slots[i];

        judging.in_flight += slot->changing;
        if (!slot->changing && slot->address && !judging.found[i])
            complain("it is missing", slot->address, slot->size, judging.truth->sites[slot->site]);
    }
    printf("%llu %llu %llu %llu\n", (unsigned long long)judging.seen, (unsigned long long)judging.in_flight,
           (unsigned long long)judging.unexplained, (unsigned long long)judging.truth->calls);
    return 0;
}

int main(int count, char **arguments)
{
    if (count >= 7 && strcmp(arguments[1], "run") == 0)
        return run(count - 2, arguments + 2);
    if (count == 5 && strcmp(arguments[1], "judge") == 0)
        return judge(arguments + 2);
    return 2;
}
