/*
 * sites_new.cc - the sites in C++: see sites.h.
 */
#include "oracle/sites.h"

#include <new>

#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

#define SITE(name, expression)                           \
    extern "C" ORACLE_CODE void *name(oracle_call *call) \
    {                                                    \
        void *block = (expression);                      \
        KEEP_FRAME();                                    \
        return block;                                    \
    }

SITE(oracle_new, operator new(call->size))
SITE(oracle_new_array, operator new[](call->size))
SITE(oracle_new_nothrow, operator new(call->size, std::nothrow))
SITE(oracle_new_aligned, operator new(call->size, std::align_val_t(call->align)))
SITE(oracle_new_array_aligned_nothrow, operator new[](call->size, std::align_val_t(call->align), std::nothrow))

extern "C" ORACLE_CODE void *oracle_new_fails(oracle_call *call)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return (void)call, nullptr; /* a sanitizer's ends the program */
#endif
    size_t size = ~size_t(0) / 2;

    __asm__ volatile("" : "+r"(size));
    try {
        return operator new(size + (call->size & 7));
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

extern "C" void oracle_delete(void *block, size_t size, size_t align, enum oracle_release release)
{
    switch (release) {
    case RELEASE_DELETE:
        return size & 1 ? operator delete(block) : operator delete(block, size);
    case RELEASE_DELETE_ARRAY:
        return size & 1 ? operator delete[](block) : operator delete[](block, size);
    case RELEASE_DELETE_ALIGNED:
        return operator delete(block, std::align_val_t(align));
    case RELEASE_DELETE_ARRAY_ALIGNED:
        return operator delete[](block, std::align_val_t(align));
    default:
        return;
    }
}
