/* Rule packs: what parses can be applied. */
#include "feature/rules.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rules *rules;
    struct rules_fault fault;
    if (rules_parse(&rules, &fault, (const char *)data, size) != MIRE_RULES_OK)
        return 0;
    (void)rules_classify(rules, "/usr/lib/libc.so.6", "pthread_mutex_lock");
    (void)rules_classify(rules, "", "");
    rules_free(rules);
    return 0;
}
