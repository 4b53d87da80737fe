/*
 * inherit.h - keeps descriptors of libcurl from programs that the app executes. Thread: any.
 *
 * libcurl (such as 7.88) creates the descriptors that wake a transfer without close-on-exec, so every program that the
 * app executes inherits them. No call of libcurl names these descriptors. This file finds them as the new descriptors
 * that hold a byte after a wake-up of the handle.
 */
#ifndef MIRE_UPLOAD_INHERIT_H
#define MIRE_UPLOAD_INHERIT_H

#include <curl/curl.h>

/* As curl_multi_init, but no child inherits the descriptors. Only descriptors below 1024 are found. */
CURLM *mire__multi_init(void);

/* CURLOPT_OPENSOCKETFUNCTION: a socket that no child inherits. */
curl_socket_t mire__socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address);

#endif
