/*
 * bytes.c - bytes of a connection: read and written until the socket is empty or full.
 */
#include "http/inside.h"
#include "http/tls.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The result of a call on the socket. */
static ssize_t judge(ssize_t moved, bool *may)
{
    if (moved > 0)
        return moved;
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) {
        *may = errno == EINTR;
        return 0;
    }
    return -1;
}

/* The same of a call on TLS, which reads its socket until that is empty, and may have to write to be read from. */
static ssize_t judge_tls(struct http_connection *connection, ssize_t moved, bool *may)
{
    if (moved > 0)
        connection->moved_ns = connection->loop->now_ns;
    if (!moved)
        *may = false;
    return moved;
}

ssize_t connection_read(struct http_connection *connection, void *out, size_t room)
{
    if (connection->tls)
        return judge_tls(connection, tls_read(connection->tls, out, room), &connection->may_read);
    ssize_t got = judge(recv(connection->fd, out, room, MSG_DONTWAIT), &connection->may_read);
    if (got > 0)
        connection->moved_ns = connection->loop->now_ns;
    if (got > 0 && (size_t)got < room && !connection->is_hung_up)
        connection->may_read = false; /* the socket is empty: what comes from now on is an event */
    return got;
}

ssize_t connection_write(struct http_connection *connection, const struct text *head, size_t sent, const void *body,
                         size_t len)
{
    size_t of_head = sent < head->len ? sent : head->len, of_body = sent - of_head;
    if (connection->tls && of_head < head->len)
        return judge_tls(connection, tls_write(connection->tls, head->bytes + of_head, head->len - of_head),
                         &connection->may_write);
    if (connection->tls)
        return judge_tls(connection, tls_write(connection->tls, (const char *)body + of_body, len - of_body),
                         &connection->may_write);
    struct iovec parts[2] = {{head->bytes + of_head, head->len - of_head},
                             {(char *)(uintptr_t)body + of_body, len - of_body}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = len > of_body ? 2 : 1};
    ssize_t went = judge(sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL), &connection->may_write);
    if (went > 0)
        connection->moved_ns = connection->loop->now_ns;
    return went;
}
