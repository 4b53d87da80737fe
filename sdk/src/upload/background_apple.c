/*
 * background_apple.c - see background.h. The session starts no app: a report stays in the store until its answer was
 * read, and a second one under its identifier counts once.
 */
#include "upload/background.h"

#include "platform/platform.h"
#include "upload/messages.h"

#include <fcntl.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define IDENTIFIER  "dev.mire.reports"
#define GIVE_UP_S   3600.0 /* of the system, on a task */
#define DELEGATE    "MireSessionDelegate"
#define FOLDER      65537 /* _CS_DARWIN_USER_TEMP_DIR */
#define FOLDER_ROOM 1024
#define PATH_ROOM   (FOLDER_ROOM + 64)

static struct {
    pthread_mutex_t lock; /* of all but the session, which is set once */
    id session;
    id task; /* NULL: none is awaited. Retained, as `received` is */
    id received;
    char path[PATH_ROOM];
    mire__background_done_fn *done;
    void *context;
} background = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the delegate; thread: the session's queue ---- */

/* The lock is held. */
static void forget(void)
{
    mire__call(background.task, "release");
    mire__call(background.received, "release");
    background.task = background.received = NULL;
}

static void receive(id self, SEL selector, id session, id task, id data)
{
    (void)self;
    (void)selector;
    (void)session;
    pthread_mutex_lock(&background.lock);
    if (task == background.task)
        mire__call_with(background.received, "appendData:", data);
    pthread_mutex_unlock(&background.lock);
}

/* Tasks of a former process, and tasks that were left, end here too. */
static void complete(id self, SEL selector, id session, id task, id error)
{
    (void)self;
    (void)selector;
    (void)session;
    pthread_mutex_lock(&background.lock);
    if (task == background.task) {
        unlink(background.path);
        background.done(background.context, background.received, mire__call(task, "response"), error);
        forget();
    }
    pthread_mutex_unlock(&background.lock);
}

/* No other server gets a report, nor the key. The answer of the redirect is the task's. */
static void refuse_redirect(id self, SEL selector, id session, id task, id response, id request, void (^go_on)(id))
{
    (void)self;
    (void)selector;
    (void)session;
    (void)task;
    (void)response;
    (void)request;
    go_on(NULL);
}

static Class make_delegate_class(void)
{
    Class made = objc_allocateClassPair((Class)objc_getClass("NSObject"), DELEGATE, 0);
    Protocol *protocol = objc_getProtocol("NSURLSessionDataDelegate");

    if (!made)
        return NULL;
    class_addMethod(made, sel_registerName("URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:"),
                    (IMP)refuse_redirect, "v@:@@@@@?");
    class_addMethod(made, sel_registerName("URLSession:dataTask:didReceiveData:"), (IMP)receive, "v@:@@@");
    class_addMethod(made, sel_registerName("URLSession:task:didCompleteWithError:"), (IMP)complete, "v@:@@@");
    if (protocol)
        class_addProtocol(made, protocol);
    objc_registerClassPair(made);
    return made;
}

void *mire__session_open(void *configuration)
{
    id made = (id)objc_getClass(DELEGATE), delegate, session;

    if (!made)
        made = (id)make_delegate_class();
    delegate = made ? mire__call(mire__call(made, "alloc"), "init") : NULL;
    if (!delegate)
        return NULL;
    session = ((id(*)(id, SEL, id, id, id))objc_msgSend)(
        mire__class("NSURLSession"), sel_registerName("sessionWithConfiguration:delegate:delegateQueue:"),
        configuration, delegate, NULL);
    mire__call(delegate, "release"); /* the session keeps it */
    return session ? mire__call(session, "retain") : NULL;
}

/* ---- the session ---- */

bool mire__background_open(void)
{
    id configuration;

    if (background.session)
        return true;
    configuration = mire__call_with(mire__class("NSURLSessionConfiguration"),
                                    "backgroundSessionConfigurationWithIdentifier:", mire__text(IDENTIFIER));
    if (!configuration)
        return false;
    ((void (*)(id, SEL, BOOL))objc_msgSend)(configuration, sel_registerName("setSessionSendsLaunchEvents:"), NO);
    ((void (*)(id, SEL, double))objc_msgSend)(configuration, sel_registerName("setTimeoutIntervalForResource:"),
                                              GIVE_UP_S);
    background.session = mire__session_open(configuration);
    return background.session != NULL;
}

/* ---- a task ---- */

static bool write_body(const char *path, const void *body, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t at = 0;
    ssize_t wrote = 1;

    if (fd < 0)
        return false;
    while (at < size && (wrote = write(fd, (const char *)body + at, size - at)) > 0)
        at += (size_t)wrote;
    if (close(fd) == 0 && at == size)
        return true;
    unlink(path);
    return false;
}

static bool name_body(char path[PATH_ROOM])
{
    char folder[FOLDER_ROOM];
    size_t length = confstr(FOLDER, folder, sizeof(folder));

    if (length == 0 || length > sizeof(folder))
        return false;
    snprintf(path, PATH_ROOM, "%s/mire-%u-%llu.body", folder, mire__pid(), (unsigned long long)mire__now_ns());
    return true;
}

void *mire__background_begin(void *request, const void *body, size_t size, mire__background_done_fn *done,
                             void *context)
{
    char path[PATH_ROOM];
    id file, task;

    mire__background_leave();
    if (!name_body(path) || !write_body(path, body, size))
        return NULL;
    file = mire__call_with(mire__class("NSURL"), "fileURLWithPath:", mire__text(path));
    task = ((id(*)(id, SEL, id, id))objc_msgSend)(background.session,
                                                  sel_registerName("uploadTaskWithRequest:fromFile:"), request, file);
    if (!task) {
        unlink(path);
        return NULL;
    }
    pthread_mutex_lock(&background.lock);
    snprintf(background.path, sizeof(background.path), "%s", path);
    background.task = mire__call(task, "retain");
    background.received = mire__call(mire__class("NSMutableData"), "new");
    background.done = done;
    background.context = context;
    pthread_mutex_unlock(&background.lock);
    mire__call(task, "resume");
    return task;
}

void mire__background_leave(void)
{
    pthread_mutex_lock(&background.lock);
    if (background.task)
        forget(); /* the file stays for the system, in a folder that it empties */
    pthread_mutex_unlock(&background.lock);
}
