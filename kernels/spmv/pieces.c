// y of rows that several blocks of threads have summed: the end of the first block, the starts of the blocks after it.
KERNEL join(const int splits, const real alpha, const real beta, GLOBAL const int *RESTRICT split_rows,
            GLOBAL const int *RESTRICT split_firsts, GLOBAL const int *RESTRICT split_lasts,
            GLOBAL const real *RESTRICT first_pieces, GLOBAL const real *RESTRICT last_pieces, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long split = block * BLOCK + t;
        if (split >= splits)
            continue;
        const int row = split_rows[split];
        real sum = last_pieces[split_firsts[split]];
        for (int piece = split_firsts[split] + 1; piece <= split_lasts[split]; ++piece)
            sum += first_pieces[piece];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}

// y of rows without entries.
KERNEL scale_rows(const int count, const real beta, GLOBAL const int *RESTRICT rows, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < count)
            y[rows[i]] = beta == 0 ? 0 : beta * y[rows[i]];
    }
}
