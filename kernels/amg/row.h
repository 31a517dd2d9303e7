/* One row of a result on a processor: columns as they come first, found again through a table of TABLE slots, a power of two. */

#include "columns.h"

#define EMPTY (-1)

typedef struct {
    int count, table[TABLE], places[TABLE], slots[TABLE], columns[TABLE + VECTOR];
} row_t;

DEVICE_FUNCTION void begin_rows(row_t *row)
{
    row->count = 0;
    for (int slot = 0; slot < TABLE; ++slot) row->table[slot] = EMPTY;
}

/* Return the place of a column in the row, `count` as it was where it is new; -1 when the table is full. */
DEVICE_FUNCTION int place_of(row_t *row, const int column)
{
    uint slot = ((uint)column * 0x9e3779b1u) >> 12 & (TABLE - 1);
    while (row->table[slot] != column) {
        if (row->table[slot] == EMPTY) {
            if (row->count == TABLE - 1) return -1; /* one slot stays free, where a search ends */
            row->table[slot] = column;
            row->places[slot] = row->count;
            row->slots[row->count] = (int)slot;
            row->columns[row->count] = column;
            return row->count++;
        }
        slot = (slot + 1) & (TABLE - 1);
    }
    return row->places[slot];
}

DEVICE_FUNCTION void end_row(row_t *row)
{
    for (int k = 0; k < row->count; ++k) row->table[row->slots[k]] = EMPTY;
    row->count = 0;
}
