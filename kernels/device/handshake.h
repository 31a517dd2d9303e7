/* Rows that have chosen one another are mates; `mate` is -1 for a row that has none yet. */
KERNEL pair(const long rows, GLOBAL const int *RESTRICT choice, GLOBAL int *RESTRICT mate)
{
    OUTER(block);
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row < rows && choice[row] >= 0 && choice[choice[row]] == row) mate[row] = choice[row];
    }
}
