/* The small systems of a sparse approximate inverse, for rows that have `length` entries each: with J the columns of a row,
 * normal = (A Aᵀ)[J, J] and right = A[J, row]. A thread computes one number, from two rows of A whose columns are sorted: the
 * product A Aᵀ, which has several times the entries of A, is made nowhere. */

KERNEL equations(const long count, const int length, GLOBAL const int *RESTRICT rows, GLOBAL const int *RESTRICT offsets,
                 GLOBAL const int *RESTRICT columns, GLOBAL const double *RESTRICT values,
                 GLOBAL double *RESTRICT normal, GLOBAL double *RESTRICT right)
{
    OUTER(block);
    INNER(t) {
        const long number = block * BLOCK + t;
        if (number >= count) continue;
        const int width = length + 1, second = (int)(number % width); /* the last is the right-hand side's */
        const long place = number / width; /* of the row among rows, and of the first of J in it */
        const int row = rows[place / length];
        GLOBAL const int *pattern = columns + offsets[row];
        int i = offsets[pattern[place % length]];
        const int end_i = offsets[pattern[place % length] + 1];
        double sum = 0;
        if (second == length) {
            for (; i < end_i; ++i) {
                if (columns[i] == row) sum += values[i];
            }
            right[place] = sum;
            continue;
        }
        int j = offsets[pattern[second]];
        const int end_j = offsets[pattern[second] + 1];
        while (i < end_i && j < end_j) {
            const int difference = columns[i] - columns[j];
            if (difference == 0) sum += values[i] * values[j];
            if (difference <= 0) ++i;
            if (difference >= 0) ++j;
        }
        normal[place * length + second] = sum;
    }
}
