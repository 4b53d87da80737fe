/* Stored sums of sketches: a second write is equal, and sums can be merged and queried. */
#include "model/population.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct population population, twice;
    unsigned char *bytes;
    size_t len;
    arena_init(&arena, 64 << 20);
    if (population_decode(&population, &arena, data, size) == 0) {
        if (population_encode(&bytes, &len, &population))
            abort();
        if (population_decode(&twice, &arena, bytes, len) || twice.count != population.count)
            abort();
        free(bytes);
        (void)population_merge(&twice, &population);
        for (size_t i = 0; i < twice.count; i++)
            (void)sketch_quantile(&twice.categories[i].bytes, twice.weight, 90);
    }
    arena_fini(&arena);
    return 0;
}
