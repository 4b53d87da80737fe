/* An uploaded file: looked at, and if it passes, opened and asked for addresses as symbolication does. */
#include "symbols/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_facts facts;
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    char path[] = "/tmp/mire-fuzz-elf-XXXXXX";
    if (elf_check(&facts, data, size))
        return 0;
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    struct module *module = module_new();
    (void)module_add(module, path, NULL, 0);
    module_seal(module);
    for (uint64_t address = 0; address < 0x4000; address += 0x11)
        (void)module_lookup(frames, module, address);
    module_free(module);
    unlink(path);
    return 0;
}
