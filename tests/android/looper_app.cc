/*
 * looper_app.cc - a native app on Android's own Looper in C++ (android::Looper of libutils): its handler hangs once.
 *
 *     looper_app URL STORE
 *
 * Says how long the hang was.
 */
#include <mire/mire.h>
#include <utils/Looper.h>

#include <cstdio>
#include <ctime>

static const int HANG = 2, END = 9;
static const nsecs_t MS = 1000000;

static long now_ms()
{
    timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct Cart : public android::MessageHandler {
    bool ended = false;

    __attribute__((noinline)) void sort_items(long ms)
    {
        for (long end = now_ms() + ms; now_ms() < end;)
            ;
    }

    void handleMessage(const android::Message &message) override
    {
        long begin = now_ms();

        if (message.what == HANG) {
            sort_items(1500);
            printf("hang %ld\n", now_ms() - begin);
        }
        ended = message.what == END;
    }
};

int main(int, char **words)
{
    android::sp<android::Looper> looper = android::Looper::prepare(0);
    android::sp<Cart> cart = new Cart;
    mire_options *options = mire_options_new();

    mire_options_set_app(options, "looper-app", "1");
    mire_options_set_server(options, words[1], "mk_test");
    mire_options_set_store(options, words[2]);
    mire_options_set_channel(options, "internal");
    mire_options_set_number(options, "foreground_ms", 700);
    mire_options_set_number(options, "launch_ms", 60000);
    enum mire_err err = mire_start(options);
    mire_options_free(options);
    if (err != MIRE_OK)
        return 1;
    for (int i = 0; i < 20; i++)
        looper->sendMessageDelayed(i * 50 * MS, cart, android::Message(1));
    looper->sendMessageDelayed(1500 * MS, cart, android::Message(HANG));
    looper->sendMessageDelayed(5000 * MS, cart, android::Message(END));
    while (!cart->ended)
        looper->pollOnce(-1);
    err = mire_flush(60000);
    mire_stop(nullptr);
    return err != MIRE_OK;
}
