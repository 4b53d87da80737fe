/*
 * input.c - libinput.so in short: events of a window come through a socket, and each is answered when it is handled.
 */
#include <sys/socket.h>

/* The next event; 0: none is there. */
int input_receive(int socket)
{
    char event;

    return recv(socket, &event, 1, MSG_DONTWAIT) == 1 ? event : 0;
}

/* The event is handled. */
int input_finish(int socket)
{
    return send(socket, "f", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}
