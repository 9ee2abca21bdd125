/*===- pool.c - The threads that parallel loops run on -------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One loop at a time uses the pool. Its pieces are handed out by an atomic
 * counter; the caller works too. Workers are invited by tickets:
 *
 *   state = tickets << 16 | active
 *
 * A worker joins by turning one ticket into one active, and leaves by taking
 * the active back. The caller, when no pieces are left, withdraws the unused
 * tickets and waits for active == 0. So a loop never waits for a worker that
 * has not started (on a loaded machine the caller may do it all), and a worker
 * that wakes late finds no ticket and touches nothing: the fields of a loop
 * are read only while active > 0, when the caller cannot have left.
 *
 * Workers look for tickets for about 50 us after their last loop, then sleep
 * in a futex. Loops inside one model follow each other within microseconds, so
 * they are met spinning; an idle process uses no CPU.
 *
 * Several models in a process share one pool: foretrace_pool_v1 is a
 * STB_GNU_UNIQUE symbol, of which the dynamic linker keeps one definition for
 * the whole process, even across dlopen with RTLD_LOCAL, and keeps the library
 * that defines it loaded, so that sleeping workers always have their code.
 *
 * After fork() the child has no workers; the pool is reset there and starts
 * anew when it is needed.
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "internal.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdalign.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  MAX_WORKERS = 1023,
  SPIN_CYCLES = 150000, /* of the time stamp counter: 40 to 75 us */
  PIECES_PER_THREAD = 4 /* evens out threads that are interrupted */
};

static const uint32_t kTicket = 1u << 16;
static const uint32_t kActiveMask = 0xffff;

static struct {
  atomic_uint busy; /* 1 while a loop uses the pool; guards the next four */
  int32_t workers;
  ft_parallel_body body;
  void *args;
  int64_t n, piece;

  alignas(64) atomic_llong next; /* first index not handed out */
  alignas(64) atomic_uint state; /* tickets and active; a futex */
  atomic_uint caller_sleeps;
  alignas(64) atomic_uint posted; /* counts loops; the workers' futex */
  atomic_uint sleepers;
} pool;

static void futex_wait(atomic_uint *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* True for about 50 us after *start, which begins as 0. */
static bool keep_spinning(uint64_t *start) {
  uint64_t now = __builtin_ia32_rdtsc();
  if (*start == 0)
    *start = now;
  __builtin_ia32_pause();
  return now - *start < SPIN_CYCLES;
}

static void run_pieces(void) {
  ft_parallel_body body = pool.body;
  void *args = pool.args;
  int64_t n = pool.n, piece = pool.piece;
  for (;;) {
    int64_t lo =
        atomic_fetch_add_explicit(&pool.next, piece, memory_order_relaxed);
    if (lo >= n)
      return;
    body(args, lo, n - lo < piece ? n : lo + piece);
  }
}

/*===- Workers ------------------------------------------------------------===*/

static bool take_ticket(void) {
  uint32_t state = atomic_load(&pool.state);
  while (state >= kTicket)
    if (atomic_compare_exchange_weak(&pool.state, &state, state - kTicket + 1))
      return true;
  return false;
}

static void wait_for_ticket(void) {
  for (;;) {
    uint64_t start = 0;
    while (keep_spinning(&start))
      if (take_ticket())
        return;
    /* Announce the sleep, then look once more: whoever posts a loop after
     * that look sees the sleeper and wakes it. */
    uint32_t posted = atomic_load(&pool.posted);
    atomic_fetch_add(&pool.sleepers, 1);
    bool joined = take_ticket();
    if (!joined)
      futex_wait(&pool.posted, posted);
    atomic_fetch_sub(&pool.sleepers, 1);
    if (joined)
      return;
  }
}

static void *worker_main(void *unused) {
  (void)unused;
  for (;;) {
    wait_for_ticket();
    run_pieces();
    uint32_t left = atomic_fetch_sub(&pool.state, 1) - 1;
    if ((left & kActiveMask) == 0 && atomic_load(&pool.caller_sleeps))
      futex_wake(&pool.state, 1);
  }
  return NULL;
}

static void reset_in_child(void) { memset(&pool, 0, sizeof pool); }

/* What pthread_atfork calls; that function itself is not in libc.so. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso);

/* Starts workers until there are `wanted`, or as many as can be had. */
static void start_workers(int32_t wanted) {
  static bool registered; /* stays true in the child, as the handler does */
  if (!registered) {
    registered = true;
    __register_atfork(NULL, NULL, reset_in_child, NULL);
  }
  /* The application's signals are not for these threads. */
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (pool.workers < wanted) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker_main, NULL) != 0)
      break;
    pthread_detach(thread);
    ++pool.workers;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*===- The caller ---------------------------------------------------------===*/

static void wait_for_workers(void) {
  uint64_t start = 0;
  while (keep_spinning(&start))
    if ((atomic_load(&pool.state) & kActiveMask) == 0)
      return;
  atomic_store(&pool.caller_sleeps, 1);
  for (;;) {
    uint32_t state = atomic_load(&pool.state);
    if ((state & kActiveMask) == 0)
      break;
    futex_wait(&pool.state, state);
  }
  atomic_store(&pool.caller_sleeps, 0);
}

/* Named in the assembly below. */
__attribute__((used)) void ft_pool_run_here(int32_t threads,
                                            ft_parallel_body body, void *args,
                                            int64_t n, int64_t grain) {
  if (n <= 0)
    return;
  int64_t most = (int64_t)threads * PIECES_PER_THREAD;
  int64_t piece = n / most + (n % most != 0);
  if (piece < grain)
    piece = grain;
  if (threads <= 1 || n <= piece || atomic_exchange(&pool.busy, 1)) {
    body(args, 0, n);
    return;
  }
  int64_t pieces = n / piece + (n % piece != 0);
  int32_t helpers =
      threads - 1 < pieces - 1 ? threads - 1 : (int32_t)pieces - 1;
  if (helpers > MAX_WORKERS)
    helpers = MAX_WORKERS;
  if (pool.workers < helpers)
    start_workers(helpers);
  if (helpers > pool.workers)
    helpers = pool.workers;

  pool.body = body;
  pool.args = args;
  pool.n = n;
  pool.piece = piece;
  atomic_store(&pool.next, 0);
  atomic_store(&pool.state, (uint32_t)helpers * kTicket);
  atomic_fetch_add(&pool.posted, 1);
  uint32_t sleepers = atomic_load(&pool.sleepers);
  if (sleepers > 0)
    futex_wake(&pool.posted, helpers);

  run_pieces();
  atomic_fetch_and(&pool.state, kActiveMask);
  wait_for_workers();
  atomic_store_explicit(&pool.busy, 0, memory_order_release);
}

/*===- One pool in a process ----------------------------------------------===*/

/* Version 1. Another layout or meaning gets another symbol. */
struct ft_pool_v1 {
  void (*run)(int32_t threads, ft_parallel_body body, void *args, int64_t n,
              int64_t grain);
};

__attribute__((
    visibility("default"))) extern const struct ft_pool_v1 foretrace_pool_v1;

/* C has no word for STB_GNU_UNIQUE. */
__asm__(".pushsection .data.rel.ro,\"aw\",@progbits\n"
        ".balign 8\n"
        ".type foretrace_pool_v1, @gnu_unique_object\n"
        ".size foretrace_pool_v1, 8\n"
        "foretrace_pool_v1:\n"
        ".quad ft_pool_run_here\n"
        ".popsection\n");

void ft_rt_parallel_for(ft_exec *exec, void (*body)(void *, int64_t, int64_t),
                        void *args, int64_t n, int64_t grain) {
  if (exec->parallel_for)
    exec->parallel_for(exec->parallel_for_user, body, args, n, grain);
  else if (exec->threads > 1)
    foretrace_pool_v1.run(exec->threads, body, args, n, grain);
  else if (n > 0)
    body(args, 0, n);
}
