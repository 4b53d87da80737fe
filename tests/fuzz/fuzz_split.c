/* A program and its split file: the bytes of the program as a u32, the program, the split file. */
#include "object/object.h"
#include "cache/convert.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct object *open_copy(uint8_t **copy_out, const uint8_t *data, size_t size)
{
    struct object *object = NULL;
    uint8_t *bytes = *copy_out = calloc(1, size + MIRE_OBJECT_PAD);
    struct file_bytes file = {bytes, size, 0};
    struct object_facts facts;
    memcpy(bytes, data, size);
    if (!object_look(&facts, data, size, NULL, 0))
        (void)object_open(&object, &file, NULL, 0, 1);
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copies[2];
    if (size < 4 || load_32(data) > size - 4)
        return 0;
    size_t len = load_32(data);
    struct object *program = open_copy(&copies[0], data + 4, len);
    struct object *split = open_copy(&copies[1], data + 4 + len, size - 4 - len);
    if (program) {
        struct convert_facts facts;
        struct convert_split given = {.object = split, .contents_id = 1, .package = split && split->facts.package};
        struct convert_source source = {
            .objects = {program}, .object_count = 1, .splits = &given, .split_count = len < size - 4};
        for (int asks = 0; asks < 2; asks++) {
            int fd = memfd_create("fuzz", 0);
            source.asks = asks;
            (void)convert(&facts, fd, &source, 1);
            close(fd);
        }
    }
    object_close(program);
    object_close(split);
    free(copies[0]);
    free(copies[1]);
    return 0;
}
