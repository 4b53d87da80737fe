/* A mapping from the sandboxed child: opened as a file, and queried for frames and numbers. */
#include "java/retrace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct retrace_frame *frame, size_t size)
{
    volatile char sink = 0;
    if (frame->class_len > size || frame->method_len > size || strlen(frame->file) >= sizeof frame->file)
        abort();
    for (size_t i = 0; i < frame->class_len; i++)
        sink ^= frame->class_name[i];
    for (size_t i = 0; i < frame->method_len; i++)
        sink ^= frame->method[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const classes[] = {"a", "b", "a.a", "a.b", ""};
    static const char *const methods[] = {"a", "b", "s", "<init>", ""};
    static struct retrace_answer answer;
    struct retrace_carry carry = {0};
    struct retrace *retrace;
    int fd = memfd_create("fuzz", 0);
    if (write(fd, data, size) == (ssize_t)size && !retrace_map(&retrace, fd, false)) {
        for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
                for (uint32_t line = 0; line < 40; line += 3) {
                    const struct retrace_query query = {classes[c], methods[m], m % 2 ? "" : "A.kt", line};
                    retrace_frame(&answer, &carry, retrace, &query);
                    for (size_t i = 0; i < answer.count; i++)
                        look(&answer.frames[i], size);
                    carry.thrown = line % 2 ? "a.b" : NULL;
                    carry.thrown_len = line % 2 ? 3 : 0;
                }
        for (uint64_t number = 0; number < 8; number++)
            if (retrace_method(answer.frames, retrace, number))
                look(answer.frames, size);
        (void)retrace_is_methods(retrace);
        retrace_close(retrace);
    }
    close(fd);
    return 0;
}
