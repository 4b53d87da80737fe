/* mail.c - one e-mail through the server's own SMTP relay: RFC 5322, with TLS unless it was switched off. */
#include "alert/hook.h"

#include "base/id.h"
#include "base/scope.h"
#include "base/text.h"
#include "rows/outbox.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECT_S 10L
#define WHOLE_S   20L
#define LINE      57 /* bytes that make a line of 76 characters of base64 */

struct mail {
    struct text text;
    size_t at;
    const struct hook_options *options;
};

static size_t give(char *out, size_t size, size_t count, void *context)
{
    struct mail *letter = context;
    size_t left = letter->text.len - letter->at, len = size * count < left ? size * count : left;

    memcpy(out, letter->text.bytes + letter->at, len);
    letter->at += len;
    return len;
}

static int look_up(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    const struct mail *letter = context;
    (void)all, (void)now, (void)up_all, (void)up;
    return letter->options->stopping && atomic_load(letter->options->stopping);
}

/* Base64 in lines: no line is too long, and none begins with a dot. */
static void add_base64(struct text *out, const char *bytes, size_t len)
{
    char line[MIRE_BASE64_TEXT(LINE)];

    for (size_t at = 0; at < len; at += LINE) {
        base64_format(line, (const uint8_t *)bytes + at, len - at < LINE ? len - at : LINE, MIRE_BASE64);
        text_printf(out, "%s\r\n", line);
    }
}

/* RFC 2047: encoded words of at most 75 characters, cut between characters. No line break of the text gets through. */
static void add_subject(struct text *out, const char *title)
{
    char word[MIRE_BASE64_TEXT(45)];
    size_t len = strlen(title), at = 0;

    text_add(out, "Subject:");
    while (at < len) {
        size_t part = text_cut(title + at, len - at, 45);
        part = part ? part : 1; /* bytes that are no text: still a step on */
        base64_format(word, (const uint8_t *)title + at, part, MIRE_BASE64);
        text_printf(out, " =?UTF-8?B?%s?=\r\n", word);
        at += part;
    }
    if (!len)
        text_add(out, " Mire\r\n");
}

static void write_letter(struct text *out, const struct hook_options *options, const struct outbox_message *message,
                         int64_t now_us)
{
    char id[MIRE_UUID_TEXT], date[64];
    time_t now = (time_t)(now_us / 1000000);
    struct tm tm;

    uuid_format(id, &message->id);
    gmtime_r(&now, &tm);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S +0000", &tm);
    text_printf(out, "Date: %s\r\nFrom: Mire <%s>\r\nTo: %s\r\n", date, options->mail_from, message->to.target);
    text_printf(out, "Message-ID: <%s@%s>\r\n", id, options->host);
    if (message->alert)
        text_printf(out, "References: <alert-%" PRId64 "@%s>\r\n", message->alert, options->host);
    add_subject(out, message->title);
    text_add(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                  "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
    add_base64(out, message->body, strlen(message->body));
}

/* "a@b, c@d" as a list. */
static struct curl_slist *recipients_of(const char *target)
{
    struct curl_slist *list = NULL;
    char address[300];

    while (*target) {
        target += strspn(target, ", ");
        size_t len = strcspn(target, ", ");
        if (len && len < sizeof address - 2) {
            snprintf(address, sizeof address, "<%.*s>", (int)len, target);
            list = curl_slist_append(list, address);
        }
        target += len;
    }
    return list;
}

static void prepare(CURL *curl, struct mail *letter, const char *from)
{
    const struct hook_options *options = letter->options;

    curl_easy_setopt(curl, CURLOPT_URL, options->smtp);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)(options->smtp_plain ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, WHOLE_S);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(curl, CURLOPT_READDATA, letter);
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, from);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_up);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, letter);
    if (*options->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    if (*options->smtp_user) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, options->smtp_user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, options->smtp_password);
    }
}

void mail_send(struct hook_outcome *out, const struct hook_options *options, const struct outbox_message *message,
               int64_t now_us)
{
    struct mail letter = {.options = options};
    char from[300];
    long status = 0;

    if (!*options->smtp || !*options->mail_from) {
        snprintf(out->why, sizeof out->why, "mired has no mail server: set smtp and mail_from in its configuration");
        return;
    }
    CURL *curl = curl_easy_init();
    write_letter(&letter.text, options, message, now_us);
    struct curl_slist *recipients = recipients_of(message->to.target);
    if (curl && recipients && !text_failed(&letter.text)) {
        snprintf(from, sizeof from, "<%.290s>", options->mail_from);
        prepare(curl, &letter, from);
        curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
        CURLcode code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        out->taken = code == CURLE_OK;
        if (code != CURLE_OK && status >= 400)
            snprintf(out->why, sizeof out->why, "the mail server answered %ld: %s", status, curl_easy_strerror(code));
        else if (code != CURLE_OK)
            snprintf(out->why, sizeof out->why, "%s", curl_easy_strerror(code));
        else
            *out->why = '\0';
    }
    curl_slist_free_all(recipients);
    curl_easy_cleanup(curl);
    text_fini(&letter.text);
}
