/* Shared memory, barriers and every floating-point add of the dialect: a back end is there when both kernels are right on it. */
KERNEL add_all(GLOBAL float *single, GLOBAL double *twice)
{
    OUTER(block);
    SHARED float local_single[1];
    SHARED double local_twice[1];
    INNER(t) {
        if (t > 0) continue;
        local_single[0] = block;
        local_twice[0] = block;
    }
    BARRIER;
    INNER(t) {
        ATOMIC_ADD_SHARED(&local_single[0], 1);
        ATOMIC_ADD_SHARED(&local_twice[0], 1);
    }
    BARRIER;
    INNER(t) {
        ATOMIC_ADD_GLOBAL(&single[0], local_single[0]);
        ATOMIC_ADD_GLOBAL(&twice[0], local_twice[0]);
    }
}

/* Threads part after the last barrier of a branch. PoCL 3.0 and 3.1 let all of a block follow the first of them there. */
KERNEL part_ways(const int marks, GLOBAL int *RESTRICT marked)
{
    OUTER(block);
    SHARED int odd[BLOCK];
    INNER(t) { odd[t] = t % 2; }
    BARRIER;
    if (marks) {
        INNER(t) { odd[t] = -odd[t]; }
        BARRIER;
        INNER(t) {
            if (odd[t] < 0) continue;
            marked[block * BLOCK + t] = 1;
        }
    } else {
        INNER(t) { marked[block * BLOCK + t] = 2; }
    }
}
