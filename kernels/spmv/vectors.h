/* Operations of processors' bodies other than the slices' on as many numbers side by side as slices.h has. `real` is a define. */

#include "slices.h"

#if SOME == 8
#define SUM_OF_SOME SUM_OF_EIGHT
#elif SOME == 4
#define SUM_OF_SOME(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#else
#define SUM_OF_SOME(v) ((v)[0] + (v)[1])
#endif
#define STORE_SOME(to, v) (*(some_anywhere *)(to) = (v))
/* 0 where it is not true, whatever v is there */
#define WHERE_SOME(truths, v) ((some)((some_truths)(v) & (truths)))
