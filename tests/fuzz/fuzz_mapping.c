/* A mapping of Java names: read, and queried for frames that its first bytes name. */
#include "object/object.h"
#include "java/retrace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct retrace *retrace)
{
    static const char *const classes[] = {"a", "b", "a.a", "a.b"};
    static const char *const methods[] = {"a", "b", "c", "d", "s", "t", "run", "<init>"};
    static struct retrace_answer answer;
    struct retrace_carry carry = {0};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            for (uint32_t line = 0; line < 40; line += 3) {
                const struct retrace_query query = {classes[c], methods[m], m % 2 ? "" : "A.kt", line};
                retrace_frame(&answer, &carry, retrace, &query);
                carry.thrown = line % 2 ? "a.b" : NULL;
                carry.thrown_len = line % 2 ? 3 : 0;
            }
    for (uint64_t number = 0; number < 8; number++)
        (void)retrace_method(answer.frames, retrace, number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct object_facts facts;
    struct object *object;
    struct retrace *retrace;
    if (object_look(&facts, data, size, NULL, 0) ||
        (facts.format != MIRE_FORMAT_MAPPING && facts.format != MIRE_FORMAT_METHODMAP))
        return 0;
    struct file_bytes file = {data, size, 0};
    if (object_open(&object, &file, NULL, 0, 1))
        return 0;
    if (!retrace_open(&retrace, object)) {
        ask(retrace);
        retrace_close(retrace);
    }
    object_close(object);
    return 0;
}
