/* An uploaded file: examined, and if accepted converted, and addresses looked up as in symbolication. */
#include "object/object.h"
#include "cache/cache.h"
#include "cache/convert.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(int fd)
{
    static struct symbol_frame frames[MIRE_SYMBOL_ROOM];
    struct symbol_chain chains[16];
    uint64_t addresses[16];
    struct module *module;
    if (cache_open_fd(&module, fd, NULL, 0, true))
        abort(); /* the converter's own output must be accepted */
    const struct cache_head *head = cache_head(module);
    for (unsigned i = 0; i < 16; i++) {
        addresses[i] = head->base + head->high / 16 * i;
        (void)module_lookup(frames, module, addresses[i]);
    }
    (void)module_lookup_all(frames, MIRE_SYMBOL_ROOM, chains, module, addresses, 16);
    cache_close(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct object_facts facts;
    struct object *object;
    struct convert_facts converted;
    if (object_look(&facts, data, size, NULL, 0))
        return 0;
    uint8_t *bytes = calloc(1, size + MIRE_OBJECT_PAD);
    struct file_bytes file = {bytes, size, 0};
    memcpy(bytes, data, size);
    if (!object_open(&object, &file, NULL, 0, 1)) {
        struct convert_source source = {.objects = {object}, .object_count = 1, .alt = object};
        int fd = memfd_create("fuzz", 0);
        if (!convert(&converted, fd, &source, 1))
            ask(fd);
        close(fd);
        object_close(object);
    }
    free(bytes);
    return 0;
}
