/* A hash table of columns in shared memory: TABLE slots, a power of two, EMPTY where free. */

#define EMPTY (-1)

/* Return the slot of a column, which is put there if it is not yet; -1 when the table is full. `added` is set where it was. */
DEVICE_FUNCTION int find_or_add(SHARED_POINTER int *table, const int column, int *added)
{
    uint slot = ((uint)column * 0x9e3779b1u) >> 12;
    for (int probe = 0; probe < TABLE; ++probe) {
        slot &= TABLE - 1;
        const int found = table[slot];
        if (found == column) return (int)slot;
        if (found == EMPTY) {
            const int old = COMPARE_SWAP_SHARED(&table[slot], EMPTY, column);
            *added = old == EMPTY;
            if (old == EMPTY || old == column) return (int)slot;
        }
        ++slot;
    }
    return -1;
}

DEVICE_FUNCTION int find_slot(SHARED_POINTER int *table, const int column)
{
    int added;
    return find_or_add(table, column, &added);
}

DEVICE_FUNCTION int is_new(SHARED_POINTER int *table, const int column)
{
    int added = 0;
    find_or_add(table, column, &added);
    return added;
}
