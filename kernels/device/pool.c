/* Threads that share out the blocks of a grid, for every kernel of a process: each has a part of its own, the same in
 * every launch, and takes from the others' what is left there. So nobody waits for a thread that has lost its core
 * before it began. A thread that waits spins, after a while lets others have its core, and then sleeps. On a processor
 * of several NUMA nodes a thread, the caller apart, stays on the cores of one, where its parts of arrays lie. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 1024
#define CHUNKS 32            /* of a part, at most: what a thread takes at once, so what others wait for at the end */
#define SPIN_NS 300000       /* for the next launch, which Python may take as long to come to */
#define HOLD_NS 50000        /* of it without a pause for others: who yields once misses all launches of a time slice */
#define CALLER_SPIN_NS 30000 /* for the last chunks of others */
#define STACK_BYTES (8 << 20) /* shared arrays of a block lie there */

typedef void work_t(long first, long last, const void *job);

#ifdef __linux__
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static void sleep_while(atomic_int *word, int value) { syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0); }
static void wake_all(atomic_int *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0); }
#else
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void sleep_while(atomic_int *word, int value)
{
    pthread_mutex_lock(&changing);
    while (atomic_load(word) == value) pthread_cond_wait(&changed, &changing);
    pthread_mutex_unlock(&changing);
}
static void wake_all(atomic_int *word)
{
    (void)word;
    pthread_mutex_lock(&changing);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&changing);
}
#endif

#ifdef __x86_64__
#define PAUSE __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE __asm__ volatile("yield")
#else
#define PAUSE ((void)0)
#endif

/* The launch in hand. A late thread may read these while the next launch is written: what it read counts only once it
 * has taken a chunk of the launch that it read them for. */
static work_t *_Atomic work;
static const void *_Atomic job;
static _Atomic long total;
static atomic_int each; /* chunks of a part */
static atomic_int keeps_apart; /* each thread to its part */
static _Alignas(64) atomic_int launch;   /* its number */
static _Alignas(64) atomic_int unfinished; /* chunks */
static _Alignas(64) atomic_int sleeping;
static atomic_int caller_sleeps;
static struct {
    _Alignas(64) _Atomic uint64_t left; /* number of the launch, and how many chunks nobody has taken */
} part[MOST_THREADS];

static const uint64_t *masks; /* of the threads, the CPUs that each may use */
static size_t mask_bytes;
static int parts = 1, is_started, takes_others = 1;
static atomic_int used = 1; /* threads that take part, of all `parts` */
static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Return when the word has another value. */
static void wait_for_change(atomic_int *word, int value, atomic_int *sleepers, int64_t spin)
{
    if (atomic_load(word) != value) return;
    const int64_t from = nanoseconds();
    int64_t waited;
    do {
        for (int i = 0; i < 30; ++i) {
            PAUSE;
            if (atomic_load_explicit(word, memory_order_acquire) != value) return;
        }
        waited = nanoseconds() - from;
        if (waited > HOLD_NS) sched_yield(); /* whoever else wants this core comes first, be it the caller itself */
    } while (waited < spin);
    atomic_fetch_add(sleepers, 1);
    while (atomic_load(word) == value) sleep_while(word, value);
    atomic_fetch_sub(sleepers, 1);
}

/* Take a chunk of a part; return how many were left with it, 0 when none was or the launch is over. */
static int take(int which, int number)
{
    uint64_t left = atomic_load(&part[which].left);
    while ((uint32_t)(left >> 32) == (uint32_t)number && (uint32_t)left)
        if (atomic_compare_exchange_weak(&part[which].left, &left, left - 1)) return (int)(uint32_t)left;
    return 0;
}

static void share(int me, int number)
{
    work_t *const mine = atomic_load(&work);
    const void *const given = atomic_load(&job);
    const int sharing = atomic_load(&used), of_part = atomic_load(&each);
    const long count = atomic_load(&total), chunks = (long)sharing * of_part;
    const int reach = takes_others && !atomic_load(&keeps_apart) ? sharing : 1;
    if (me >= sharing) return;
    int done = 0;
    for (int i = 0; i < reach; ++i) {
        const int which = (me + i) % sharing;
        for (int left; (left = take(which, number)); ++done) {
            const long k = (long)(which + 1) * of_part - left;
            const long first = count * k / chunks, last = count * (k + 1) / chunks;
            if (first < last) mine(first, last, given);
        }
    }
    if (done && atomic_fetch_sub(&unfinished, done) == done && atomic_load(&caller_sleeps)) wake_all(&unfinished);
}

static void *serve(void *given)
{
    const int me = (int)(intptr_t)given;
#ifdef __linux__
    if (masks) sched_setaffinity(0, mask_bytes, (const cpu_set_t *)((const char *)masks + me * mask_bytes));
#endif
    for (int number = 0;;) {
        wait_for_change(&launch, number, &sleeping, SPIN_NS);
        number = atomic_load(&launch);
        share(me, number);
    }
    return 0;
}

static void forget_threads(void) /* a forked process has none of them */
{
    is_started = 0;
    atomic_store(&sleeping, 0);
    atomic_store(&caller_sleeps, 0);
    launching = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void start_threads(void)
{
    sigset_t all, before; /* signals are for Python's own thread */
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    atomic_store(&launch, 0);
    int made = 1;
    for (pthread_t thread; made < parts; ++made)
        if (pthread_create(&thread, &attributes, serve, (void *)(intptr_t)made)) break;
    parts = made; /* as many as the system allows */
    if (atomic_load(&used) > parts) atomic_store(&used, parts);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    is_started = 1;
}

/* Set how many threads there are, the caller's among them, before the first launch; return how many there will be. */
int pool_set(int threads, int may_take_others)
{
    static int is_watched;
    parts = threads < 1 ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
    atomic_store(&used, parts);
    takes_others = may_take_others;
    if (!is_watched) is_watched = !pthread_atfork(0, 0, forget_threads);
    return parts;
}

/* Have each thread but the caller's use the CPUs of its mask alone; before the first launch. The masks are kept. */
void pool_bind(const uint64_t *of_threads, long bytes)
{
    masks = of_threads;
    mask_bytes = (size_t)bytes;
}

/* Have so many threads take part from the next launch on, at most all that there are; return how many will. */
int pool_use(int threads)
{
    pthread_mutex_lock(&launching);
    const int will = threads < 1 ? 1 : threads < parts ? threads : parts;
    atomic_store(&used, will);
    pthread_mutex_unlock(&launching);
    return will;
}

static void run(work_t *asked, const void *given, long blocks, int apart)
{
    if (atomic_load(&used) == 1 || blocks == 1) {
        asked(0, blocks, given);
        return;
    }
    pthread_mutex_lock(&launching);
    if (!is_started) start_threads();
    const int number = atomic_load(&launch) + 1;
    atomic_store(&work, asked);
    atomic_store(&job, given);
    atomic_store(&total, blocks);
    const int sharing = atomic_load(&used);
    const int of_part = blocks < (long)sharing * CHUNKS ? (int)((blocks + sharing - 1) / sharing) : CHUNKS;
    atomic_store(&each, of_part);
    atomic_store(&keeps_apart, apart);
    atomic_store(&unfinished, sharing * of_part);
    for (int k = 0; k < sharing; ++k)
        atomic_store(&part[k].left, (uint64_t)(uint32_t)number << 32 | (uint32_t)of_part);
    atomic_store(&launch, number);
    if (atomic_load(&sleeping)) wake_all(&launch);
    share(0, number);
    for (int rest; (rest = atomic_load(&unfinished));) wait_for_change(&unfinished, rest, &caller_sleeps, CALLER_SPIN_NS);
    pthread_mutex_unlock(&launching);
}

/* Do all of a launch; the blocks that a thread gets begin where they did in the launch before. */
void pool_run(work_t *asked, const void *given, long blocks) { run(asked, given, blocks, 0); }

struct memory {
    char *to;
    const char *from;
    long bytes, threads;
};

static void place_some(long k, long last, const void *given)
{
    const struct memory *const all = given;
    const long begin = all->bytes * k / all->threads, size = all->bytes * last / all->threads - begin;
    if (all->from)
        memcpy(all->to + begin, all->from + begin, size);
    else
        memset(all->to + begin, 0, size);
}

/* Write memory that nobody has touched, so that each thread's part of it lies on the thread's node: other memory's
 * content, or zeros. */
void pool_place(void *to, const void *from, long bytes)
{
    const struct memory all = {to, from, bytes, atomic_load(&used)};
    run(place_some, &all, all.threads, 1);
}
