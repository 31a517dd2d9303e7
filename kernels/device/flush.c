/* Reads a buffer larger than the last-level cache, so that nothing else stays in it. Reading leaves no modified lines
 * behind, whose writing back would fall into the time of the next kernel. */
KERNEL flush(GLOBAL const double *RESTRICT buffer, GLOBAL double *RESTRICT sink)
{
    OUTER(block);
    const long first = block * CHUNK;
    INNER_FOR(i, CHUNK) {
        if (buffer[first + i] < 0) /* never so: the buffer holds ones */
            sink[0] = 1;
    }
}
