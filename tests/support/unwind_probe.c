/*
 * unwind_probe.c - runs the SDK's unwinder on another process that is stopped.
 *
 *     unwind_probe PID PC KNOWN REG0 REG1 ...     numbers in hexadecimal, registers in DWARF's order
 *
 * Prints one line for each frame: its address and how it was found; then the sample's flags. Memory and mappings are
 * those of the other process, in place of the unwinder's own.
 */
#include "capture/unwind.h"
#include "platform/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static pid_t target;

size_t mire__peek(void *out, uint64_t address, size_t size_bytes)
{
    struct iovec to = {out, size_bytes}, from = {(void *)(uintptr_t)address, size_bytes};
    ssize_t got = process_vm_readv(target, &to, 1, &from, 1, 0);

    return got > 0 ? (size_t)got : 0;
}

bool mire__mappings_visit(bool (*visit)(void *context, const struct mapping *mapping), void *context, char *buffer,
                          size_t buffer_bytes)
{
    char path[64], flags[8];
    bool more = true;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)target);
    maps = fopen(path, "r");
    while (maps && more && fgets(buffer, (int)buffer_bytes, maps)) {
        struct mapping mapping = {0};
        int path_at = 0;

        if (sscanf(buffer, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n", &mapping.start, &mapping.end,
                   flags, &mapping.offset, &mapping.inode, &path_at) < 5)
            continue;
        buffer[strcspn(buffer, "\n")] = '\0';
        mapping.readable = flags[0] == 'r';
        mapping.writable = flags[1] == 'w';
        mapping.executable = flags[2] == 'x';
        mapping.path = buffer + path_at;
        more = visit(context, &mapping);
    }
    if (maps)
        fclose(maps);
    return maps != NULL;
}

int main(int argc, char **argv)
{
    static struct stack_snapshot snapshot;
    static struct modules modules;
    struct sample sample = {0};

    if (argc < 5 || argc - 4 > MIRE_REGS_MAX)
        return 2;
    target = atoi(argv[1]);
    snapshot.unfolded = true;
    snapshot.regs.pc = strtoull(argv[2], NULL, 16);
    snapshot.regs.known = strtoull(argv[3], NULL, 16);
    for (int i = 4; i < argc; i++)
        snapshot.regs.value[i - 4] = strtoull(argv[i], NULL, 16);
    snapshot.stack_address = (snapshot.regs.value[mire__arch.sp] - 128) & ~7ull;
    snapshot.stack_size = mire__peek(snapshot.stack, snapshot.stack_address, sizeof(snapshot.stack));
    mire__modules_read(&modules, NULL, NULL);
    mire__unwind(&sample, &snapshot, &modules);
    for (uint32_t i = 0; i < sample.depth; i++)
        printf("%" PRIx64 " %u\n", sample.pc[i], sample.found[i]);
    printf("flags %u\n", sample.flags);
    return 0;
}
