/*
 * background.h - a background NSURLSession: the system goes on with a transfer while the app is suspended, and after it
 * has ended. It sends only files, and notifies a delegate. One session serves all of a process, because its identifier names it.
 * Private to upload/.
 */
#ifndef MIRE_UPLOAD_BACKGROUND_H
#define MIRE_UPLOAD_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make a session with the delegate, which takes the answers of a background session's tasks, and answers a redirect by
 * none: the answer is then that of the redirect. The system does not ask for it in a background session.
 *
 *   configuration  NSURLSessionConfiguration
 *
 * Returns the session, retained; NULL: the system has none.
 */
void *mire__session_open(void *configuration);

/* Make the session, once. False: the system has none. Thread: that of the upload, as of all here. */
bool mire__background_open(void);

/* The end of a task. Thread: the session's queue. */
typedef void mire__background_done_fn(void *context, void *data, void *response, void *error);

/*
 * Begin to send a body. The former task is left, if it has not ended.
 *   request  NSMutableURLRequest without a body
 *   body     size bytes; copied to a file, which goes with the task
 *   done     called at the end, unless the task is left before
 * Returns the task, valid until its end or until it is left; NULL: it could not be made.
 */
void *mire__background_begin(void *request, const void *body, size_t size, mire__background_done_fn *done,
                             void *context);

/* Leave the task to the system: `done` is not called from here on. */
void mire__background_leave(void);

#endif
