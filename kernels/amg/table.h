/* A hash table of columns in shared memory: TABLE slots, a power of two, EMPTY where free. */

#define EMPTY (-1)

/* Return the slot of a column, which is put there if it is not yet; -1 when the table is full. */
DEVICE_FUNCTION int find_slot(SHARED_POINTER int *table, const int column)
{
    uint slot = ((uint)column * 0x9e3779b1u) >> 12;
    for (int probe = 0; probe < TABLE; ++probe) {
        slot &= TABLE - 1;
        const int found = table[slot];
        if (found == column) return (int)slot;
        if (found == EMPTY) {
            const int old = COMPARE_SWAP_SHARED(&table[slot], EMPTY, column);
            if (old == EMPTY || old == column) return (int)slot;
        }
        ++slot;
    }
    return -1;
}
