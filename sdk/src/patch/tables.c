/*
 * tables.c - see tables.h.
 */
#include "patch/tables.h"

#include <string.h>

/* glibc has relocated most pointers of the dynamic section already. */
static uintptr_t moved(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return address < info->dlpi_addr ? address + info->dlpi_addr : address;
}

/* In a table without symbols the number of the first one is undefined. */
static bool is_empty(const uint32_t *hash)
{
    const uint32_t *buckets = mire__hash_buckets(hash);

    for (uint32_t i = 0; i < hash[HASH_BUCKETS]; i++)
        if (buckets[i] != 0)
            return false;
    return true;
}

bool mire__module_tables(struct module_tables *out, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *dynamic = NULL;
    size_t bytes[2] = {0}, nameless = 0;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        uintptr_t address = moved(info, dynamic->d_un.d_ptr);

        if (dynamic->d_tag == DT_SYMTAB)
            out->symbols = (const ElfW(Sym) *)address;
        else if (dynamic->d_tag == DT_STRTAB)
            out->names = (const char *)address;
        else if (dynamic->d_tag == DT_GNU_HASH)
            out->hash = (const uint32_t *)address;
        else if (dynamic->d_tag == DT_JMPREL)
            out->relocations[0] = (const ElfW(Rela) *)address;
        else if (dynamic->d_tag == DT_RELA)
            out->relocations[1] = (const ElfW(Rela) *)address;
        else if (dynamic->d_tag == DT_PLTRELSZ)
            bytes[0] = dynamic->d_un.d_val;
        else if (dynamic->d_tag == DT_RELASZ)
            bytes[1] = dynamic->d_un.d_val;
        else if (dynamic->d_tag == DT_RELACOUNT) /* relative relocations: first, and most of them */
            nameless = dynamic->d_un.d_val;
    }
    for (int i = 0; i < 2; i++)
        out->counts[i] = out->relocations[i] ? bytes[i] / sizeof(ElfW(Rela)) : 0;
    nameless = nameless < out->counts[1] ? nameless : out->counts[1];
    out->relocations[1] += nameless;
    out->counts[1] -= nameless;
    if (out->hash && is_empty(out->hash))
        out->hash = NULL;
    return out->symbols && out->names;
}
