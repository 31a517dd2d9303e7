/* An element's fourteen contributions, each where the sum that it belongs to reads it: to the matrix for its edges 01 02 03 12 13
 * 23 and its nodes, to the residual for its nodes. `mass` and `load` are the reaction's parts, the same for every node. With FACTORS
 * they are all that is written, in two arrays that end with a zero, for sums that know the rest (factors.c). */

#define EDGE_COUNT 6

DEVICE_FUNCTION void contribute(const long e, const long count, const double p0, const double p1, const double p2,
                                const double p3, const double mass, const double load,
                                GLOBAL const double *RESTRICT stiffness, GLOBAL const int *RESTRICT places,
                                GLOBAL double *RESTRICT contributions)
{
#if FACTORS
    contributions[e] = mass;
    contributions[count + 1 + e] = load;
#else
    double s[EDGE_COUNT];
    UNROLL
    for (int k = 0; k < EDGE_COUNT; ++k) {
        s[k] = READ_ONCE_LOAD(&stiffness[k * count + e]);
        contributions[places[k * count + e]] = s[k] + mass;
    }
    /* a row of the stiffness sums to zero */
    contributions[places[6 * count + e]] = mass - s[0] - s[1] - s[2];
    contributions[places[7 * count + e]] = mass - s[0] - s[3] - s[4];
    contributions[places[8 * count + e]] = mass - s[1] - s[3] - s[5];
    contributions[places[9 * count + e]] = mass - s[2] - s[4] - s[5];
    contributions[places[10 * count + e]] = load + s[0] * (p1 - p0) + s[1] * (p2 - p0) + s[2] * (p3 - p0);
    contributions[places[11 * count + e]] = load + s[0] * (p0 - p1) + s[3] * (p2 - p1) + s[4] * (p3 - p1);
    contributions[places[12 * count + e]] = load + s[1] * (p0 - p2) + s[3] * (p1 - p2) + s[5] * (p3 - p2);
    contributions[places[13 * count + e]] = load + s[2] * (p0 - p3) + s[4] * (p1 - p3) + s[5] * (p2 - p3);
#endif
}
