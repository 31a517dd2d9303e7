/* The body of a kernel's conjugate gradients with Jacobi preconditioning from zero, by a single block: it wants n,
 * max_iterations, tolerance, the system as row_offsets, entry_columns, entries and inverse_diagonal, b, the vectors r, p, q and x,
 * `iterations`, and shared sums_rz, sums_rr and sums_pq of a number a thread. Stops by itself at |r| <= tolerance |b|. */

    int span = BLOCK;
    while (span > 1 && span / 2 >= n) span /= 2;

    INNER(t) {
        double rz = 0, rr = 0;
        for (int i = t; i < n; i += BLOCK) {
            const real value = b[i], z = inverse_diagonal[i] * value;
            x[i] = 0;
            r[i] = value;
            p[i] = z;
            rz += value * z;
            rr += value * value;
        }
        sums_rz[t] = rz;
        sums_rr[t] = rr;
    }
    TREE_OF(sums_rz, span)
    TREE_OF(sums_rr, span)
    double rz = sums_rz[0];
    const double limit = tolerance * tolerance * sums_rr[0];
    int count = 0, running = sums_rr[0] > 0;
    BARRIER;
    for (; running && count < max_iterations; ++count) {
        INNER(t) {
            double pq = 0;
            for (int i = t; i < n; i += BLOCK) {
                real sum = 0;
                for (int k = row_offsets[i]; k < row_offsets[i + 1]; ++k) sum += entries[k] * p[entry_columns[k]];
                q[i] = sum;
                pq += p[i] * sum;
            }
            sums_pq[t] = pq;
        }
        TREE_OF(sums_pq, span)
        const real alpha = rz / sums_pq[0];
        INNER(t) {
            double now = 0, rr = 0;
            for (int i = t; i < n; i += BLOCK) {
                const real value = r[i] - alpha * q[i];
                x[i] += alpha * p[i];
                r[i] = value;
                now += value * value * inverse_diagonal[i];
                rr += value * value;
            }
            sums_rz[t] = now;
            sums_rr[t] = rr;
        }
        TREE_OF(sums_rz, span)
        TREE_OF(sums_rr, span)
        const real beta = sums_rz[0] / rz;
        rz = sums_rz[0];
        running = sums_rr[0] > limit && rz > 0;
        INNER(t) {
            for (int i = t; i < n; i += BLOCK) p[i] = r[i] * inverse_diagonal[i] + beta * p[i];
        }
        BARRIER;
    }
    INNER(t) {
        if (t == 0) iterations[0] = count;
    }
