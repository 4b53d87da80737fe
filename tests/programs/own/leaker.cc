/*
 * leaker.cc - a photo viewer in C++ that leaks its decoded pictures, until the kernel kills it.
 *
 *     leaker MB     ends with status 3 when it holds so much
 *
 * A scene (browse_album) decodes pictures (decode_picture) and keeps them in a container for good. It also keeps names
 * and journals, which are small or short-lived. The leak to be found is decode_picture's.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <time.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

typedef std::vector<unsigned char> picture;
static std::vector<picture> cache;
static std::map<int, std::string> names;

/* The picture's bytes come from a container, whose frames must not be blamed. */
extern "C" NOINLINE void decode_picture(int number)
{
    picture decoded(60000 + number % 7 * 9000);

    memset(decoded.data(), number, decoded.size());
    cache.push_back(std::move(decoded));
}

extern "C" NOINLINE void write_journal(int number)
{
    std::unique_ptr<char[]> line(new char[20000]);

    snprintf(line.get(), 20000, "picture %d", number);
    names[number % 500] = line.get();
}

extern "C" NOINLINE void browse_album(int number)
{
    decode_picture(number);
    write_journal(number);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    size_t limit = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20, held = 0;

    for (int number = 0; held < limit; number++) {
        browse_album(number);
        held += cache.back().size();
        if (number % 50 == 0) {
            struct timespec pause = {0, 5000000};
            nanosleep(&pause, nullptr);
        }
    }
    return 3;
}
