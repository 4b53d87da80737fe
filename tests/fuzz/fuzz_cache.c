/* A converted file from the sandboxed child: opened, and addresses looked up. */
#include "cache/cache.h"

#include <libdeflate.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The checksums are corrected, since an attacker could do so, and the code after the check must be reached. */
static void set_right(uint8_t *bytes, size_t size)
{
    struct cache_head head;
    if (size < sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    head.head_crc = 0;
    head.head_crc = libdeflate_crc32(0, &head, sizeof head);
    memcpy(bytes, &head, sizeof head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbol_frame frames[MIRE_SYMBOL_ROOM];
    struct symbol_chain chains[16];
    char defect[MIRE_SYMBOL_WHY];
    uint64_t addresses[16];
    struct module *module;
    int fd = memfd_create("fuzz", 0);
    uint8_t *bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    set_right(bytes, size);
    if (write(fd, bytes, size) == (ssize_t)size && !cache_open_fd(&module, fd, NULL, 0, false)) {
        const struct cache_head *head = cache_head(module);
        for (unsigned i = 0; i < 16; i++) {
            addresses[i] = head->base + head->high / 16 * i;
            size_t count = module_lookup(frames, module, addresses[i]);
            for (size_t k = 0; k < count; k++)
                if ((frames[k].function && strlen(frames[k].function) > head->text_bytes) ||
                    (frames[k].file && strlen(frames[k].file) > head->text_bytes))
                    abort();
        }
        (void)module_defect(defect, module);
        (void)module_lookup_all(frames, MIRE_SYMBOL_ROOM, chains, module, addresses, 16);
        cache_close(module);
    }
    free(bytes);
    close(fd);
    return 0;
}
