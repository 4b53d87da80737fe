/*
 * subject.c - functions whose frames are built in every way that Apple's compact unwind format can describe, and some
 * that it cannot. Compiled for Apple's systems; freestanding. tests/apple/step.c runs it one instruction at a time.
 */
typedef unsigned long word;
typedef word (*function)(word);

#define NOINLINE __attribute__((noinline))

static volatile word sink;

NOINLINE static word leaf(word n)
{
    return n * 3 + 1;
}

/* Six registers are saved, and nothing else. */
NOINLINE word six(word a, word b, word c, word d, word e, word f)
{
    word x = leaf(a), y = leaf(b), z = leaf(c), v = leaf(d), w = leaf(e), u = leaf(f);

    return leaf(x ^ a) + leaf(y ^ b) + leaf(z ^ c) + leaf(v ^ d) + leaf(w ^ e) + leaf(u ^ f) + x + y + z + v + w + u;
}

/* A frame of some words. */
NOINLINE word words(word n)
{
    volatile word room[12];

    for (word i = 0; i < 12; i++)
        room[i] = leaf(n + i);
    return room[n % 12] + leaf(room[3]);
}

/* A frame too large for the encoding's field: its size is in the code. */
NOINLINE word large(word n)
{
    volatile word room[700];

    for (word i = 0; i < 700; i += 97)
        room[i] = leaf(n + i);
    return room[97] + leaf(room[194]);
}

NOINLINE word variable(word n)
{
    volatile char room[n % 64 + 16];

    for (word i = 0; i < sizeof(room); i += 7)
        room[i] = (char)leaf(i);
    return (word)room[7] + leaf((word)sizeof(room));
}

/* The stack is aligned anew. */
NOINLINE word aligned(word n)
{
    _Alignas(128) volatile word room[32];

    for (word i = 0; i < 32; i += 5)
        room[i] = leaf(n + i);
    return room[5] + leaf(room[10]);
}

NOINLINE word recursive(word n)
{
    return n == 0 ? leaf(1) : recursive(n - 1) + leaf(n);
}

NOINLINE word tail(word n)
{
    sink = leaf(n);
    return words(n + 1);
}

/* A part of the function has no frame. */
NOINLINE word early(word n)
{
    if (n % 2 == 0)
        return n;
    return six(n, n + 1, n + 2, n + 3, n + 4, n + 5);
}

NOINLINE word by_table(word n)
{
    switch (n % 8) {
    case 0:
        return leaf(n);
    case 1:
        return words(n) + 1;
    case 2:
        return early(n) * 2;
    case 3:
        return variable(n) ^ 3;
    case 4:
        return tail(n) + 4;
    case 5:
        return aligned(n) - 5;
    case 6:
        return large(n) | 6;
    default:
        return recursive(n % 4) + 7;
    }
}

/* More arguments than registers. */
NOINLINE word many(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j)
{
    return leaf(a + g) + six(b, c, d, e, f, h) + leaf(i + j);
}

/* The frame is described by instructions: asm moves the stack pointer. */
NOINLINE static word through(function call, word n)
{
    return call(n) + 1;
}

word run(word rounds)
{
    static const function calls[] = {words, large, variable, aligned, recursive, tail, early, by_table};
    word sum = 0;

    for (word i = 0; i < rounds; i++) {
        sum += through(calls[i % (sizeof(calls) / sizeof(calls[0]))], i % 11);
        sum += by_table(i) + many(i, 1, 2, 3, 4, 5, 6, 7, 8, i);
    }
    return sum;
}
