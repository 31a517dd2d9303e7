// The slots of a thread, LANES at a time, for the statement that follows. Where it WALKS a block goes through a `chunk` of
// consecutive ones, so that x which they share is found in its cache; else each thread has its own, and there is no loop,
// which would keep registers.
#if WALKS
#define EACH_SLOT(slot, t)                                                                                           \
    for (long slot = block * chunk + (t) * LANES, past = (block + 1) * chunk < slots ? (block + 1) * chunk : slots;  \
         slot < past; slot += BLOCK * LANES)
#else
#define EACH_SLOT(slot, t)                                                                                           \
    const long slot = (block * BLOCK + (t)) * LANES;                                                                 \
    if (slot < slots)
#endif
