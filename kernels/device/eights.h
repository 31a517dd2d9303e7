/* Eight numbers side by side, for bodies of processors in GNU C: `real` is a define. */

#define EIGHT_BYTES (8 * sizeof(real))
typedef real eight __attribute__((vector_size(EIGHT_BYTES)));
typedef real eight_anywhere __attribute__((vector_size(EIGHT_BYTES), aligned(sizeof(real)), may_alias));

#define LOAD_EIGHT(from) (*(const eight_anywhere *)(from))
#define STORE_EIGHT(to, v) (*(eight_anywhere *)(to) = (v))
/* One by one: the compilers' gathers take longer. So does taking indices out of a vector, for which clang loads them together where it
 * knows what lies there: it need not know of a pointer that was made OPAQUE. */
#define OPAQUE(pointer) __asm__("" : "+r"(pointer))
#define OPAQUE_TO(pointer, what) __asm__("" : "+r"(pointer) : "m"(what)) /* which it points to */
#define FIND_EIGHT(x, at) (eight){(x)[(at)[0]], (x)[(at)[1]], (x)[(at)[2]], (x)[(at)[3]], (x)[(at)[4]], (x)[(at)[5]], (x)[(at)[6]], (x)[(at)[7]]}
#define SUM_OF_EIGHT(v) ((((v)[0] + (v)[4]) + ((v)[1] + (v)[5])) + (((v)[2] + (v)[6]) + ((v)[3] + (v)[7])))
