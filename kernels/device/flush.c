// Reads a buffer larger than the last-level cache, so that nothing else stays in it. Reading leaves no modified lines behind,
// whose writing back would fall into the time of the next kernel.
KERNEL flush(const long count, GLOBAL const double *RESTRICT buffer, GLOBAL double *sink)
{
    OUTER(block);
    INNER(t) {
        double sum = 0;
        for (int k = 0; k < LOADS; ++k) {
            const long i = (block * LOADS + k) * BLOCK + t;
            sum += i < count ? buffer[i] : 0;
        }
        if (sum < 0) // never so: the buffer holds ones; without it the loads would be removed
            sink[0] = sum;
    }
}
