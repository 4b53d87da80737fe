/*
 * CoreFoundation.h - the declarations of Apple's CoreFoundation that the SDK and its tests use. For builds without Xcode.
 */
#ifndef MIRE_STUB_CORE_FOUNDATION_H
#define MIRE_STUB_CORE_FOUNDATION_H

#include <stdint.h>

typedef const void *CFTypeRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFDictionary *CFDictionaryRef;
typedef struct __CFNotificationCenter *CFNotificationCenterRef;
typedef struct __CFRunLoop *CFRunLoopRef;
typedef struct __CFRunLoopObserver *CFRunLoopObserverRef;
typedef struct __CFRunLoopSource *CFRunLoopSourceRef;
typedef struct __CFRunLoopTimer *CFRunLoopTimerRef;
typedef CFStringRef CFRunLoopMode;
typedef unsigned char Boolean;
typedef uint32_t CFStringEncoding;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef signed long CFIndex;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFTypeID;
typedef int32_t SInt32;

#define kCFStringEncodingUTF8 0x08000100u

typedef CFOptionFlags CFRunLoopActivity;
enum {
    kCFRunLoopEntry = 1 << 0,
    kCFRunLoopBeforeTimers = 1 << 1,
    kCFRunLoopBeforeSources = 1 << 2,
    kCFRunLoopBeforeWaiting = 1 << 5,
    kCFRunLoopAfterWaiting = 1 << 6,
    kCFRunLoopExit = 1 << 7
};

typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
} CFRunLoopObserverContext;
typedef CFRunLoopObserverContext CFRunLoopTimerContext;

typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
    Boolean (*equal)(const void *one, const void *other);
    unsigned long (*hash)(const void *info);
    void (*schedule)(void *info, CFRunLoopRef loop, CFRunLoopMode mode);
    void (*cancel)(void *info, CFRunLoopRef loop, CFRunLoopMode mode);
    void (*perform)(void *info);
} CFRunLoopSourceContext;

typedef void (*CFRunLoopObserverCallBack)(CFRunLoopObserverRef observer, CFRunLoopActivity activity, void *info);
typedef void (*CFRunLoopTimerCallBack)(CFRunLoopTimerRef timer, void *info);

extern const CFRunLoopMode kCFRunLoopDefaultMode;
extern const CFRunLoopMode kCFRunLoopCommonModes;

extern void CFRelease(CFTypeRef object);
extern CFTypeID CFGetTypeID(CFTypeRef object);
extern CFStringRef CFCopyTypeIDDescription(CFTypeID type);
extern Boolean CFStringGetCString(CFStringRef text, char *out, CFIndex bytes, CFStringEncoding encoding);
extern CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text, CFStringEncoding encoding);
extern CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);

extern CFRunLoopRef CFRunLoopGetCurrent(void);
extern CFRunLoopRef CFRunLoopGetMain(void);
extern CFRunLoopMode CFRunLoopCopyCurrentMode(CFRunLoopRef loop);
extern void CFRunLoopRun(void);
extern SInt32 CFRunLoopRunInMode(CFRunLoopMode mode, CFTimeInterval seconds, Boolean returnAfterSourceHandled);
extern void CFRunLoopStop(CFRunLoopRef loop);
extern void CFRunLoopWakeUp(CFRunLoopRef loop);
extern void CFRunLoopAddCommonMode(CFRunLoopRef loop, CFRunLoopMode mode);

extern CFRunLoopObserverRef CFRunLoopObserverCreate(CFAllocatorRef allocator, CFOptionFlags activities, Boolean repeats,
                                                    CFIndex order, CFRunLoopObserverCallBack callback,
                                                    CFRunLoopObserverContext *context);
extern void CFRunLoopAddObserver(CFRunLoopRef loop, CFRunLoopObserverRef observer, CFRunLoopMode mode);
extern void CFRunLoopObserverInvalidate(CFRunLoopObserverRef observer);

extern CFRunLoopTimerRef CFRunLoopTimerCreate(CFAllocatorRef allocator, CFAbsoluteTime at, CFTimeInterval interval,
                                              CFOptionFlags flags, CFIndex order, CFRunLoopTimerCallBack callback,
                                              CFRunLoopTimerContext *context);
extern void CFRunLoopAddTimer(CFRunLoopRef loop, CFRunLoopTimerRef timer, CFRunLoopMode mode);

extern CFRunLoopSourceRef CFRunLoopSourceCreate(CFAllocatorRef allocator, CFIndex order,
                                                CFRunLoopSourceContext *context);
extern void CFRunLoopAddSource(CFRunLoopRef loop, CFRunLoopSourceRef source, CFRunLoopMode mode);
extern void CFRunLoopSourceSignal(CFRunLoopSourceRef source);

extern CFNotificationCenterRef CFNotificationCenterGetLocalCenter(void);
typedef void (*CFNotificationCallback)(CFNotificationCenterRef center, void *observer, CFStringRef name,
                                       const void *object, CFDictionaryRef info);
extern void CFNotificationCenterAddObserver(CFNotificationCenterRef center, const void *observer,
                                            CFNotificationCallback callback, CFStringRef name, const void *object,
                                            CFIndex suspension);

#endif
