/* Storage of the rows of a level's matrix by patches: formats, and the numbers of headers and slices. */
#define SYMCOO 0
#define HALF 1
#define ELL 2
#define CSR 3
#define SLICE 32
#define MOST_SLICES (BLOCK / SLICE)

/* Numbers of a patch's header. */
#define FIRST 0
#define ROWS 1
#define FIRST_ENTRY 2
#define ENTRIES 3
#define FIRST_SLICE 4
#define SLOTS 5
#define BOUNDARY_ROWS 6
#define HEADER 8

/* Numbers of a slice: its first entry, its width; of the inside, the first slot of what HALF hands to its rows; of the
 * boundary, the first row of its patch, and its place there with, in the lowest 6 bits, its rows. */
#define SLICE_NUMBERS 4

/* Whether row i stores its entry e, in column j; both count within the patch. */
#if INSIDE == SYMCOO
#define STORES(i, j, e) ((i) < (j))
#elif INSIDE == HALF
#define STORES(i, j, e) (owned[e] == 1)
#else
#define STORES(i, j, e) ((i) != (j))
#endif

#define ROUNDS 12 /* in which rows of HALF hand entries to rows that have fewer */
#define NOBODY 65535
