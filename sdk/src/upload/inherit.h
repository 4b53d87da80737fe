/*
 * inherit.h - keeps descriptors of libcurl from programs that the app executes. Thread: any.
 *
 * libcurl (7.88, say) makes the descriptors that wake a transfer without close-on-exec, so every program that the app
 * executes inherits them. No call of libcurl names these descriptors. They are found as the new descriptors that hold a
 * byte once the handle is woken.
 */
#ifndef MIRE_UPLOAD_INHERIT_H
#define MIRE_UPLOAD_INHERIT_H

#include <curl/curl.h>

/* As curl_multi_init, but no child inherits the descriptors. Only descriptors below 1024 are found. */
CURLM *mire__multi_init(void);

/* CURLOPT_OPENSOCKETFUNCTION: a socket that no child inherits. */
curl_socket_t mire__socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address);

#endif
