/* spare.c - see spare.h. */
#include "base/spare.h"

#include <malloc.h>

#define KEPT_BYTES  (16 << 20)
#define BLOCK_BYTES (8 << 20) /* a larger one is a mapping of its own */

void spare_keep(void)
{
#ifdef M_TRIM_THRESHOLD
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
#endif
}
