// crash_thrown.cc - an app that links libmire, and throws what nobody catches: crash_thrown URL STORE HOW
//
//     start   nothing: reports of earlier runs are sent     plain   a type without a base
//     range   planted_throw throws std::out_of_range        none    std::terminate without an exception
//     two     a type with two bases                         own     as range; a handler of the app's prints, and ends
#include <mire/mire.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <poll.h>
#include <stdexcept>

namespace shop {
struct Lost {
    int order;
};
struct Both : Lost, std::runtime_error {
    Both() : Lost{1}, std::runtime_error("both")
    {
    }
};
} // namespace shop

static void own_handler()
{
    std::puts("the app's own handler");
    std::fflush(stdout);
    std::abort();
}

__attribute__((noinline)) static void planted_throw(const char *how)
{
    if (!std::strcmp(how, "plain"))
        throw shop::Lost{7};
    if (!std::strcmp(how, "two"))
        throw shop::Both();
    if (!std::strcmp(how, "none"))
        std::terminate();
    throw std::out_of_range("cart has 3 rows, not 7");
}

int main(int, char **argv)
{
    const char *how = argv[3];
    mire_options *options = mire_options_new();

    if (!std::strcmp(how, "own"))
        std::set_terminate(own_handler);
    mire_options_set_app(options, "crash-app", "1");
    mire_options_set_server(options, argv[1], "mk_test");
    mire_options_set_store(options, argv[2]);
    if (mire_start(options) != MIRE_OK)
        return 3;
    mire_options_free(options);
    poll(nullptr, 0, 50);
    if (std::strcmp(how, "start") != 0)
        planted_throw(how);
    mire_flush(30000);
    mire_stop(nullptr);
    if (std::get_terminate() != std::set_terminate(nullptr))
        return 4;
    return 0;
}
