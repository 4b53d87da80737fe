#include "symbols/swift/read.h"
struct swift_node *swift_old(struct swift *s)
{
    (void)s;
    return NULL;
}
