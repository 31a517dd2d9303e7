/* Columns of a row on a processor, VECTOR of them compared at once. */

#define VECTOR 16

/* The columns are followed by VECTOR that are larger than any, for `smaller`. */
DEVICE_FUNCTION void pad(int *columns, const int count)
{
    for (int k = count; k < count + VECTOR; ++k) columns[k] = 0x7fffffff;
}

/* Return how many of the columns are smaller than one. */
DEVICE_FUNCTION int smaller(const int *columns, const int count, const int column)
{
    int found = 0;
    for (int k = 0; k < count; k += VECTOR)
        for (int lane = 0; lane < VECTOR; ++lane) found += columns[k + lane] < column;
    return found;
}
