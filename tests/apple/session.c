/*
 * session.c - see session.h: a request goes out over a socket, from memory or, of a session in the background, from a file.
 * A redirect is followed, unless the delegate of a session that is not in the background refuses it.
 */
#include "apple/session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADERS_BYTES 4096
#define ANSWER_BYTES  (4u << 20)

typedef void method_of_three_fn(struct object *self, const char *selector, struct object *a, struct object *b,
                                struct object *c);
typedef void redirect_fn(struct object *self, const char *selector, struct object *session, struct object *task,
                         struct object *response, struct object *request, void *go_on);

/* A block, as the compiler lays it out, that keeps the request which it is called with. */
struct keeping_block {
    const void *class;
    int flags, reserved;
    void (*invoke)(struct keeping_block *block, struct object *request);
    const void *description;
    struct object *kept;
};

/* ---- the request on the wire ---- */

static int connect_to(const char *url, const char **path)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned port = 0;
    int fd;

    if (sscanf(url, "http://127.0.0.1:%u", &port) != 1)
        return -1;
    to.sin_port = htons((uint16_t)port);
    *path = strchr(url + 7, '/');
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void send_all(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(fd, (const char *)bytes + at, size - at, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        at += (size_t)sent;
    }
}

static size_t receive_all(int fd, char *out)
{
    size_t size = 0;
    ssize_t got;

    while (size < ANSWER_BYTES && (got = recv(fd, out + size, ANSWER_BYTES - size, 0)) > 0)
        size += (size_t)got;
    out[size] = '\0';
    return size;
}

/* The block's own function is at its third word. */
static void answer(void *handler, struct object *data, struct object *response, struct object *error)
{
    void (*invoke)(void *, struct object *, struct object *, struct object *) =
        *(void (**)(void *, struct object *, struct object *, struct object *))((char *)handler + 16);

    invoke(handler, data, response, error);
}

/* A message to the session's delegate about a task. */
static void tell_delegate(struct object *task, const char *selector, struct object *last)
{
    method_of_three_fn *told = (method_of_three_fn *)runtime_method(task->session->delegate, selector);

    if (told)
        told(task->session->delegate, selector, task->session, task, last);
}

static void finish(struct object *task, struct object *data, struct object *response, struct object *error)
{
    if (task->handler) {
        answer(task->handler, data, response, error);
        return;
    }
    task->response = response;
    if (data)
        tell_delegate(task, "URLSession:dataTask:didReceiveData:", data);
    tell_delegate(task, "URLSession:task:didCompleteWithError:", error);
}

static struct object *find_header(const struct object *response, const char *name)
{
    char line[512];
    size_t length = strlen(name);

    for (const char *at = strchr(response->text, '\n'); at && *++at; at = strchr(at, '\n')) {
        if (strncasecmp(at, name, length) != 0 || at[length] != ':')
            continue;
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + length + 2, "\r"), at + length + 2);
        return runtime_make("NSString", line);
    }
    return NULL;
}

/* The body of a background task is a file, which the system reads. */
static struct object *read_body(const char *path)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

    if (file)
        fclose(file);
    return runtime_make_data(bytes, size);
}

/* The answer to a request; NULL: there is none, and `problem_out` tells why. */
static struct object *exchange(struct object *request, struct object **data_out, const char **problem_out)
{
    struct object *response = runtime_make("NSHTTPURLResponse", NULL);
    const char *path = "/";
    char *text = malloc(ANSWER_BYTES + 1), *body;
    int fd = connect_to(request->url->text, &path);
    char head[HEADERS_BYTES + 512];
    size_t size = request->body ? request->body->size : 0;

    *problem_out = fd < 0 ? "could not connect" : "no answer";
    if (fd < 0)
        return NULL;
    snprintf(head, sizeof(head),
             "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n",
             request->method ? request->method : "GET", path, size, request->text ? request->text : "");
    send_all(fd, head, strlen(head));
    if (size > 0)
        send_all(fd, request->body->bytes, size);
    size = receive_all(fd, text);
    close(fd);
    body = strstr(text, "\r\n\r\n");
    if (!body || sscanf(text, "HTTP/1.1 %ld", &response->status) != 1)
        return NULL;
    body += 4;
    response->text = strndup(text, (size_t)(body - text));
    *data_out = runtime_make_data(body, size - (size_t)(body - text));
    return response;
}

static void keep_request(struct keeping_block *block, struct object *request)
{
    block->kept = request;
}

/* The request that follows a redirect; NULL: it is none, or the delegate wants none. */
static struct object *follow(struct object *task, struct object *response)
{
    struct object *next = runtime_make("NSMutableURLRequest", NULL), *delegate = task->session->delegate;
    redirect_fn *asked = delegate
                             ? (redirect_fn *)runtime_method(
                                   delegate, "URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:")
                             : NULL;
    struct keeping_block block = {.invoke = keep_request};

    next->url = find_header(response, "Location");
    if (response->status / 100 != 3 || !next->url)
        return NULL;
    next->method = task->request->method;
    next->body = task->request->body;
    next->text = task->request->text;
    if (!asked || !task->handler)
        return next; /* in the background nobody is asked */
    asked(delegate, "URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:", task->session, task,
          response, next, &block);
    return block.kept;
}

static void *run_task(void *context)
{
    struct object *task = context, *request = task->request, *response = NULL, *data = NULL;
    const char *problem = NULL;

    if (task->url)
        request->body = read_body(task->url->text);
    for (; request; request = response ? follow(task, response) : NULL)
        response = exchange(request, &data, &problem);
    finish(task, response ? data : NULL, response, response ? NULL : runtime_make("NSError", problem));
    return NULL;
}

/* ---- messages ---- */

static void add_header(struct object *request, const struct object *value, const struct object *name)
{
    if (!request->text)
        request->text = calloc(1, HEADERS_BYTES);
    snprintf(request->text + strlen(request->text), HEADERS_BYTES - strlen(request->text), "%s: %s\r\n", name->text,
             value->text);
}

/* A block is copied when it is kept: its size is in its description. */
static struct object *make_task(struct object *session, struct object *request, const char *block)
{
    struct object *task = runtime_make("NSURLSessionDataTask", NULL);
    size_t size = (*(const size_t *const *)(const void *)(block + 24))[1];

    task->request = request;
    task->session = session;
    task->handler = memcpy(malloc(size), block, size);
    return task;
}

/* A session in the background sends files, and takes no block. */
static struct object *make_upload(struct object *session, struct object *request, struct object *file)
{
    struct object *task = runtime_make("NSURLSessionUploadTask", NULL);

    if (request->body || !session->delegate)
        abort();
    task->request = request;
    task->session = session;
    task->url = file;
    return task;
}

static void append(struct object *data, const struct object *more)
{
    char *joined = malloc(data->size + more->size + 1);

    if (data->size > 0)
        memcpy(joined, data->bytes, data->size);
    memcpy(joined + data->size, more->bytes, more->size);
    data->bytes = joined;
    data->size += more->size;
}

static void begin(struct object *task)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_task, task) == 0)
        pthread_detach(thread);
}

static uintptr_t make_session(struct object *self, struct object *delegate)
{
    struct object *session = runtime_make(self->text, NULL);

    session->delegate = delegate;
    return (uintptr_t)session;
}

/* Messages of sessions with a delegate, and of those in the background; 0: it is another one. */
static uintptr_t send_with_delegate(struct object *self, const char *selector, uintptr_t a, uintptr_t b)
{
    if (strcmp(selector, "backgroundSessionConfigurationWithIdentifier:") == 0)
        return (uintptr_t)runtime_make(self->text, ((const struct object *)a)->text);
    if (strcmp(selector, "sessionWithConfiguration:delegate:delegateQueue:") == 0)
        return make_session(self, (struct object *)b);
    if (strcmp(selector, "uploadTaskWithRequest:fromFile:") == 0)
        return (uintptr_t)make_upload(self, (struct object *)a, (struct object *)b);
    if (strcmp(selector, "fileURLWithPath:") == 0)
        return (uintptr_t)runtime_make("NSURL", ((const struct object *)a)->text);
    if (strcmp(selector, "response") == 0)
        return (uintptr_t)self->response;
    if (strcmp(selector, "appendData:") == 0)
        append(self, (const struct object *)a);
    if (strcmp(selector, "cancel") == 0 && self->session && !self->handler)
        abort(); /* the system goes on with it */
    return 0;
}

uintptr_t session_send(struct object *self, const char *selector, uintptr_t a, uintptr_t b)
{
#define IS(name) (strcmp(selector, name) == 0)
    if (IS("URLWithString:"))
        return (uintptr_t)runtime_make("NSURL", ((struct object *)a)->text);
    if (IS("requestWithURL:")) {
        struct object *request = runtime_make("NSMutableURLRequest", NULL);

        request->url = (struct object *)a;
        return (uintptr_t)request;
    }
    if (IS("setValue:forHTTPHeaderField:"))
        add_header(self, (const struct object *)a, (const struct object *)b);
    if (IS("setHTTPMethod:"))
        self->method = ((const struct object *)a)->text;
    if (IS("setHTTPBody:"))
        self->body = (struct object *)a;
    if (IS("ephemeralSessionConfiguration") || IS("retain"))
        return (uintptr_t)(self->class ? self : runtime_make(self->text, NULL));
    if (IS("dataTaskWithRequest:completionHandler:"))
        return (uintptr_t)make_task(self, (struct object *)a, (const char *)b);
    if (IS("resume"))
        begin(self);
    if (IS("statusCode"))
        return (uintptr_t)self->status;
    if (IS("valueForHTTPHeaderField:"))
        return (uintptr_t)find_header(self, ((const struct object *)a)->text);
    if (IS("getBytes:length:"))
        memcpy((void *)a, self->bytes, b < self->size ? b : self->size);
#undef IS
    return send_with_delegate(self, selector, a, b);
}
