/* Grid transfer without a matrix: a fine node knows its place in a coarse element, and a small table the values of that
 * element's basis functions at every place. Nodes on the boundary take no part: fine ones have no place (-1), coarse ones
 * the number -1 in `nodes`. FUNCTIONS a coarse element, PLACES fine ones. */

/* x += P c */
KERNEL prolong(const long n, GLOBAL const int *RESTRICT owner, GLOBAL const int *RESTRICT nodes,
               GLOBAL const double *RESTRICT table, GLOBAL const double *RESTRICT c, GLOBAL double *RESTRICT x)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n || owner[i] < 0)
            continue;
        const int element = owner[i] / PLACES, place = owner[i] % PLACES;
        double sum = 0;
        for (int j = 0; j < FUNCTIONS; ++j) {
            const int node = nodes[element * FUNCTIONS + j];
            if (node >= 0) sum += table[place * FUNCTIONS + j] * c[node];
        }
        x[i] += sum;
    }
}

KERNEL clear(const long n, GLOBAL double *RESTRICT x)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) x[i] = 0;
    }
}

/* c += P^T d, in no set order */
KERNEL restrict_add(const long n, GLOBAL const int *RESTRICT owner, GLOBAL const int *RESTRICT nodes,
                    GLOBAL const double *RESTRICT table, GLOBAL const double *RESTRICT d, GLOBAL double *RESTRICT c)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n || owner[i] < 0)
            continue;
        const int element = owner[i] / PLACES, place = owner[i] % PLACES;
        const double value = d[i];
        for (int j = 0; j < FUNCTIONS; ++j) {
            const int node = nodes[element * FUNCTIONS + j];
            const double weight = table[place * FUNCTIONS + j];
            if (node >= 0 && weight != 0) ATOMIC_ADD_GLOBAL(&c[node], weight * value);
        }
    }
}
