/* messages_apple.c - see messages.h. */
#include "upload/messages.h"

#include <objc/message.h>
#include <objc/runtime.h>

void *mire__call(void *object, const char *selector)
{
    return ((id(*)(id, SEL))objc_msgSend)(object, sel_registerName(selector));
}

void *mire__call_with(void *object, const char *selector, void *argument)
{
    return ((id(*)(id, SEL, id))objc_msgSend)(object, sel_registerName(selector), argument);
}

void *mire__class(const char *name)
{
    return objc_getClass(name);
}

void *mire__text(const char *utf8)
{
    return ((id(*)(id, SEL, const char *))objc_msgSend)(mire__class("NSString"),
                                                        sel_registerName("stringWithUTF8String:"), utf8);
}
