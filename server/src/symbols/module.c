/*
 * module.c - a module is up to a few files: a debug file, the image itself, and the small symbol table hidden in an
 * image's .gnu_debugdata (an xz-compressed ELF file). Whatever knows more answers first.
 */
#include "symbols/module.h"
#include "symbols/dwarf.h"
#include "symbols/names.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX     4
#define HIDDEN_MAX    (64u << 20) /* bytes of .gnu_debugdata, decompressed */
#define HIDDEN_MEMORY (128u << 20)

struct file {
    void *bytes; /* mapped; of .gnu_debugdata malloc'd */
    size_t len;
    bool mapped;
    Elf *elf;
};

struct module {
    struct file files[FILES_MAX];
    size_t file_count;
    struct dwarf *dwarf;
    struct names names;
    Dwarf_CFI *cfi; /* belongs to the ELF handle's Dwarf_CFI cache: freed by us */
};

struct module *module_new(void)
{
    (void)elf_version(EV_CURRENT);
    return calloc(1, sizeof(struct module));
}

static void close_file(struct file *file)
{
    if (file->elf)
        elf_end(file->elf);
    if (file->mapped)
        munmap(file->bytes, file->len);
    else
        free(file->bytes);
    *file = (struct file){0};
}

void module_free(struct module *module)
{
    if (!module)
        return;
    dwarf_free(module->dwarf);
    if (module->cfi)
        dwarf_cfi_end(module->cfi);
    names_fini(&module->names);
    for (size_t i = module->file_count; i-- > 0;)
        close_file(&module->files[i]);
    free(module);
}

static bool map_file(struct file *out, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool good =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= MIRE_SYMBOL_FILE_MAX;
    void *bytes = MAP_FAILED;
    if (good) /* private and writable: libelf may swap or relocate in place */
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    *out = (struct file){bytes, (size_t)st.st_size, true, NULL};
    return true;
}

/* Take a file over, if libelf accepts it. */
static bool adopt(struct module *module, struct file *file)
{
    file->elf = elf_memory(file->bytes, file->len);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !names_add(&module->names, file->elf)) {
        close_file(file);
        return false;
    }
    module->files[module->file_count++] = *file;
    return true;
}

/* The symbol table some distributions leave in stripped files. */
static void add_hidden(struct module *module, Elf *elf)
{
    size_t names;
    Elf_Data *data = NULL;
    if (module->file_count == FILES_MAX || elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *scn = NULL; !data && (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr shdr;
        const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
        if (name && !strcmp(name, ".gnu_debugdata"))
            data = elf_rawdata(scn, NULL);
    }
    struct file file = {.bytes = data && data->d_size ? malloc(HIDDEN_MAX) : NULL};
    if (!file.bytes)
        return;
    uint64_t memory = HIDDEN_MEMORY;
    size_t in = 0;
    struct elf_facts facts;
    if (lzma_stream_buffer_decode(&memory, 0, NULL, data->d_buf, &in, data->d_size, file.bytes, &file.len,
                                  HIDDEN_MAX) != LZMA_OK ||
        elf_check(&facts, file.bytes, file.len)) {
        free(file.bytes);
        return;
    }
    void *fitted = realloc(file.bytes, file.len);
    file.bytes = fitted ? fitted : file.bytes;
    (void)adopt(module, &file);
}

enum elf_kind module_add(struct module *module, const char *path, const uint8_t *id, size_t id_len)
{
    struct file file;
    struct elf_facts facts;
    if (module->file_count == FILES_MAX || !map_file(&file, path))
        return MIRE_ELF_NONE;
    if (elf_check(&facts, file.bytes, file.len) ||
        (id_len && (facts.id_len != id_len || memcmp(facts.id, id, id_len) != 0))) {
        close_file(&file);
        return MIRE_ELF_NONE;
    }
    if (!adopt(module, &file))
        return MIRE_ELF_NONE;
    if (facts.kind == MIRE_ELF_DEBUG && !module->dwarf)
        module->dwarf = dwarf_new(file.elf);
    if (!module->cfi)
        module->cfi = dwarf_getcfi_elf(file.elf);
    add_hidden(module, file.elf);
    return facts.kind == MIRE_ELF_NONE ? MIRE_ELF_SYMTAB : facts.kind;
}

void module_seal(struct module *module)
{
    names_seal(&module->names);
}

/* Where a function without a name begins, 0 if that is unknown too. */
static uint64_t start_from_cfi(struct module *module, uint64_t address)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    bool is_signal;
    if (!module->cfi || dwarf_cfi_addrframe(module->cfi, address, &frame) != 0)
        return 0;
    (void)dwarf_frame_info(frame, &start, &end, &is_signal);
    free(frame);
    return start;
}

size_t module_lookup(struct symbol_frame *out, struct module *module, uint64_t address)
{
    size_t count = module->dwarf ? dwarf_lookup(out, module->dwarf, address) : 0;
    const struct name *name = names_find(&module->names, address);
    if (count) {
        struct symbol_frame *outer = &out[count - 1];
        if (name && (!outer->function || (name->start == outer->start && !strncmp(name->text, "_Z", 2))))
            outer->function = name->text; /* compilers may leave the linkage name to the symbol table */
        return count;
    }
    uint64_t start = name ? name->start : start_from_cfi(module, address);
    if (!start)
        return 0;
    out[0] = (struct symbol_frame){.function = name ? name->text : NULL, .start = start};
    if (name && module->dwarf)
        (void)dwarf_line(&out[0].file, &out[0].line, module->dwarf, address);
    return 1;
}
