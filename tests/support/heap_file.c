/*
 * heap_file.c - writes memory tables in the state that a killed run leaves: heap_file OUT. The stacks are those of
 * functions of this program, so that a reader on this machine finds their names.
 */
#include "report/snapshot.h"
#include "support/boxes.h"
#include "support/heaps.h"

#include "heap/classes.h"
#include "heap/mappings.h"

#include <link.h>
#include <stdio.h>
#include <unistd.h>

int load_map(int tiles);
int draw_panel(int tiles);
int run_app(int tiles);

/* Functions for the stacks in the tables. Their results do not matter. */
__attribute__((noinline)) int load_map(int tiles)
{
    return tiles * 3;
}
__attribute__((noinline)) int draw_panel(int tiles)
{
    return load_map(tiles) + 1;
}
__attribute__((noinline)) int run_app(int tiles)
{
    return draw_panel(tiles) + load_map(tiles);
}

#define IN(function) ((uint64_t)(uintptr_t)(function) + 1)

struct self {
    struct heap_image_facts facts;
    char path[4096];
};

/* The first module is this program. */
static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct self *self = context;

    (void)size;
    self->facts.load = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const ElfW(Nhdr) *note = (const void *)(info->dlpi_addr + part->p_vaddr);

        if (part->p_type == PT_LOAD) {
            if (self->facts.end == 0) {
                self->facts.start = info->dlpi_addr + part->p_vaddr;
                self->facts.base = part->p_vaddr;
            }
            self->facts.end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        }
        if (part->p_type == PT_NOTE && note->n_type == 3 && note->n_namesz == 4) {
            self->facts.id = (const uint8_t *)(note + 1) + 4;
            self->facts.id_size = note->n_descsz;
        }
    }
    return 1;
}

static void fill(struct heaps *heaps)
{
    uint32_t load = heaps_stack(heaps, 3, IN(run_app), IN(draw_panel), IN(load_map));
    uint32_t draw = heaps_stack(heaps, 2, IN(run_app), IN(draw_panel));

    for (uint32_t i = 0; i < 300; i++)
        heaps_set(heaps, 0x100000000 + i * 0x10000, 49152, i % 3 ? load : draw);
    for (uint32_t i = 0; i < 7; i++) {
        heaps_set(heaps, 0x180000000 + i * 0x10000, 49152, load);
        heaps_clear(heaps, 0x180000000 + i * 0x10000);
    }
    for (uint32_t i = 0; i < 40; i++) {
        heaps_set(heaps, 0x200000000 + i * 0x1000, 640, draw);
        mire__block_as_tag(&heaps->heap, heaps->slot, 0x200000000 + i * 0x1000,
                           mire__classes_as_find(&heaps->heap, "MapTile"));
    }
    mire__mappings_as_map(&heaps->heap, 0x300000000, 8 << 20, MIRE_KIND_STACK, load);
}

int main(int argc, char **argv)
{
    struct heaps *heaps = heaps_new(8u << 20, MIRE_HEAP_EXACT);
    struct blackbox_facts facts = box_facts();
    struct self self = {.facts = {.id_size = 0}};
    FILE *out = argc == 2 ? fopen(argv[1], "wb") : NULL;

    if (!out || run_app(argc) == 0)
        return 1;
    self.path[readlink("/proc/self/exe", self.path, sizeof(self.path) - 1)] = '\0';
    self.facts.path = self.path;
    dl_iterate_phdr(look, &self);
    mire__images_as_add(NULL, &heaps->heap, &self.facts);
    mire__extra_begin(mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES), &facts);
    fill(heaps);
    bool failed = fwrite(heaps->memory, 1, heaps->bytes, out) != heaps->bytes || fclose(out) != 0;

    heaps_free(heaps);
    return failed;
}
