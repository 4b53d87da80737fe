/*
 * laid_out.c - a library of two functions, linked in each layout that linkers produce: see test_modules.c. Its entry
 * address is laid_out, and it needs no relocation, so a test can map it by hand.
 */
int laid_out(int (*back)(int), int number);

static __attribute__((noinline)) int inner(int (*back)(int), int number)
{
    return back(number + 1) + 1;
}

int laid_out(int (*back)(int), int number)
{
    return inner(back, number) * 2;
}
