/*
 * connection.c - one connection: heads and bodies in, answers out, each within its time.
 */
#include "http/inside.h"
#include "http/tls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_ROOM   8192 /* most requests come whole in it */
#define CHUNKS_ROOM  1024 /* at least, behind a head, for the lines of a chunked body */
#define IDLE_ROOM_NS UINT64_C(1000000000)
#define STEPS        32 /* reads, writes and requests before the others have their turn */

struct http_connection *connection_new(struct loop *loop, int fd, const struct http_peer *peer)
{
    struct http_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->fd = fd;
    connection->loop = loop;
    connection->peer = *peer;
    connection->state = MIRE_AT_HEAD;
    if (!loop->server->options.tls)
        return connection;
    connection->tls = tls_begin(loop->server->options.tls, fd);
    if (connection->tls)
        return connection;
    free(connection);
    return NULL;
}

static void enter(struct http_connection *connection, enum connection_state state)
{
    connection->state = state;
    connection->since_ns = connection->moved_ns = connection->loop->now_ns;
}

void connection_end(struct http_connection *connection, enum http_cut why)
{
    struct loop *loop = connection->loop;
    if (connection->state == MIRE_AT_END)
        return;
    if (why != MIRE_CUTS)
        http_cut(loop->server, why, &connection->peer);
    connection->state = MIRE_AT_END;
    if (connection->exchange)
        exchange_end(connection->exchange, true);
    tls_end(connection->tls);
    close(connection->fd);
    peers_leave(&loop->server->peers, &connection->peer);
    text_fini(&connection->head);
    free(connection->in);
    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
    connection->next = loop->ended;
    loop->ended = connection;
    atomic_fetch_sub(&loop->count, 1);
}

/* --- in ---------------------------------------------------------------------------------------------------------- */

static bool grow_in(struct http_connection *connection)
{
    size_t room = connection->in_room ? connection->in_room * 2 : FIRST_ROOM;
    char *moved = room <= MIRE_HTTP_HEAD_MAX * 2 ? realloc(connection->in, room) : NULL;
    if (!moved)
        return false;
    connection->in = moved;
    connection->in_room = room;
    return true;
}

/* Idle connections are many: they hold no memory for what may come. */
static void drop_in(struct http_connection *connection)
{
    free(connection->in);
    connection->in = NULL;
    connection->in_room = 0;
}

/* The reply of `exchange` is filled. */
static void begin_send(struct http_connection *connection)
{
    struct exchange *exchange = connection->exchange;
    enter(connection, MIRE_AT_SEND);
    connection->head.len = 0;
    connection->sent = 0;
    exchange_write_head(&connection->head, exchange);
    if (text_failed(&connection->head))
        connection_end(connection, MIRE_CUTS);
}

static void take_step(struct http_connection *connection, enum exchange_step step)
{
    if (step == MIRE_STEP_SEND)
        begin_send(connection);
    if (step == MIRE_STEP_BODY) {
        enter(connection, MIRE_AT_BODY);
        connection_begin_body(connection);
    }
}

static void refuse_head(struct http_connection *connection, int status, const char *why)
{
    http_cut(connection->loop->server, MIRE_CUT_MALFORMED, &connection->peer);
    connection->exchange = exchange_malformed(connection, status, why);
    if (connection->exchange)
        begin_send(connection);
    else
        connection_end(connection, MIRE_CUTS);
}

static void begin_exchange(struct http_connection *connection)
{
    enum exchange_step step;
    connection->state = MIRE_AT_ADMIT;
    /* Nothing points into the buffer yet. */
    bool has_room = connection->in_room - connection->seen >= CHUNKS_ROOM || grow_in(connection);
    connection->exchange = has_room ? exchange_begin(&step, connection) : NULL;
    if (!connection->exchange)
        connection_end(connection, MIRE_CUTS);
    else
        take_step(connection, step);
}

/* False: nothing more can be done now. */
static bool read_head(struct http_connection *connection)
{
    enum wire_outcome found = wire_scan(&connection->seen, connection->in, connection->in_len);
    bool is_long = connection->seen > MIRE_HTTP_HEAD_MAX;
    if (found == MIRE_WIRE_WHOLE && !is_long) {
        begin_exchange(connection);
        return true;
    }
    if (found == MIRE_WIRE_BAD) {
        refuse_head(connection, 400, "The request has bytes or line ends that HTTP does not allow.");
        return true;
    }
    if (!connection->may_read && !is_long)
        return false;
    if (is_long || (connection->in_len == connection->in_room && !grow_in(connection))) {
        bool in_line = !memchr(connection->in, '\n', connection->in_len);
        refuse_head(connection, in_line ? 414 : 431,
                    in_line ? "The address is too long." : "The headers are too long.");
        return true;
    }
    bool is_first = !connection->in_len;
    ssize_t got =
        connection_read(connection, connection->in + connection->in_len, connection->in_room - connection->in_len);
    if (got < 0)
        connection_end(connection, MIRE_CUTS);
    if (got > 0 && is_first)
        connection->since_ns = connection->loop->now_ns;
    if (got > 0)
        connection->in_len += (size_t)got;
    return got != 0 || connection->may_read;
}

static bool read_body(struct http_connection *connection)
{
    switch (connection_read_body(connection)) {
    case MIRE_BODY_MORE:
        return true;
    case MIRE_BODY_WHOLE:
        connection->state = MIRE_AT_ANSWER;
        take_step(connection, exchange_run(connection->exchange));
        return true;
    case MIRE_BODY_REFUSED:
        begin_send(connection);
        return true;
    case MIRE_BODY_LOST:
        connection_end(connection, MIRE_CUTS);
        return false;
    default:
        return false;
    }
}

/* --- out --------------------------------------------------------------------------------------------------------- */

/* The answer is sent: the next request, or the end. */
static void end_answer(struct http_connection *connection)
{
    struct exchange *exchange = connection->exchange;
    bool is_last = exchange->is_last, leaves_body = exchange->leaves_body;
    size_t used = connection->seen + (exchange->body || leaves_body ? 0 : exchange->announced);
    connection->exchange = NULL;
    exchange_end(exchange, false);
    if (is_last && leaves_body) {
        shutdown(connection->fd, SHUT_WR);
        enter(connection, MIRE_AT_LINGER);
        return;
    }
    if (is_last) {
        connection_end(connection, MIRE_CUTS);
        return;
    }
    connection->in_len -= used;
    memmove(connection->in, connection->in + used, connection->in_len);
    connection->seen = 0;
    enter(connection, MIRE_AT_HEAD);
}

static bool send_answer(struct http_connection *connection)
{
    size_t len;
    const void *body = exchange_body(connection->exchange, &len);
    if (connection->sent == connection->head.len + len) {
        end_answer(connection);
        return true;
    }
    if (!connection->may_write)
        return false;
    ssize_t went = connection_write(connection, &connection->head, connection->sent, body, len);
    if (went < 0)
        connection_end(connection, MIRE_CUTS);
    else
        connection->sent += (size_t)went;
    return went != 0 || connection->may_write;
}

/* Closing a socket with unread bytes resets it, and the client may lose the answer that says why: swallow them. */
static bool linger(struct http_connection *connection)
{
    char waste[16384];
    if (!connection->may_read)
        return false;
    ssize_t got = connection_read(connection, waste, sizeof waste);
    if (got < 0)
        connection_end(connection, MIRE_CUTS);
    return got != 0 || connection->may_read;
}

void connection_run(struct http_connection *connection)
{
    bool more = true;
    for (int step = 0; more && step < STEPS; step++) {
        switch (connection->state) {
        case MIRE_AT_HEAD:
            more = read_head(connection);
            break;
        case MIRE_AT_BODY:
            more = read_body(connection);
            break;
        case MIRE_AT_SEND:
            more = send_answer(connection);
            break;
        case MIRE_AT_LINGER:
            more = linger(connection);
            break;
        default:
            more = false;
        }
    }
    if (more)
        loop_again(connection->loop, connection);
}

void connection_resume(struct http_connection *connection)
{
    if (connection->state == MIRE_AT_ADMIT)
        take_step(connection, exchange_end_admit(connection->exchange));
    else
        begin_send(connection);
    connection_run(connection);
}

/* --- time -------------------------------------------------------------------------------------------------------- */

/* `bytes` went the one way or the other since the state began: are they too few, or is it too long altogether? */
static bool is_too_slow(const struct http_connection *connection, size_t bytes, size_t of)
{
    const struct http_options *options = &connection->loop->server->options;
    uint64_t s = (connection->loop->now_ns - connection->since_ns) / UINT64_C(1000000000);
    uint64_t grace = (uint64_t)options->headers_s;
    return (s > grace && bytes < (s - grace) * MIRE_HTTP_FLOOR_BYTES_S) ||
           s > (uint64_t)options->request_s + of / MIRE_HTTP_WHOLE_BYTES_S;
}

void connection_check_time(struct http_connection *connection)
{
    const struct http_options *options = &connection->loop->server->options;
    const struct exchange *exchange = connection->exchange;
    uint64_t silent_ns = connection->loop->now_ns - connection->moved_ns;
    uint64_t age_ns = connection->loop->now_ns - connection->since_ns;
    bool is_silent = silent_ns > (uint64_t)options->idle_s * UINT64_C(1000000000);
    bool is_late = age_ns > (uint64_t)options->headers_s * UINT64_C(1000000000);
    size_t len = 0;
    switch (connection->state) {
    case MIRE_AT_HEAD:
        if ((connection->in_len || (connection->tls && tls_is_shaking(connection->tls))) && is_late)
            connection_end(connection, MIRE_CUT_SLOW_HEAD);
        else if (is_silent)
            connection_end(connection, MIRE_CUT_IDLE);
        else if (!connection->in_len && silent_ns > IDLE_ROOM_NS)
            drop_in(connection);
        break;
    case MIRE_AT_BODY:
        len = exchange->head.is_chunked ? exchange->request.body_len : exchange->announced;
        if (is_silent || is_too_slow(connection, exchange->request.body_len, len))
            connection_end(connection, MIRE_CUT_SLOW_BODY);
        break;
    case MIRE_AT_SEND:
        (void)exchange_body(exchange, &len);
        if (is_silent || is_too_slow(connection, connection->sent, connection->head.len + len))
            connection_end(connection, MIRE_CUT_SLOW_ANSWER);
        break;
    case MIRE_AT_LINGER:
        if (age_ns > MIRE_HTTP_LINGER_NS)
            connection_end(connection, MIRE_CUTS);
        break;
    default:
        break;
    }
}
