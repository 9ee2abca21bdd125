/*===- status.c - Statuses and how generated code fails ------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void ft_set_ok(ft_status *status) {
  status->code = FT_OK;
  status->message[0] = '\0';
}

bool ft_fail(ft_status *status, int code, const char *format, ...) {
  status->code = code;
  va_list args;
  va_start(args, format);
  vsnprintf(status->message, sizeof status->message, format, args);
  va_end(args);
  return false;
}

/* Only the first of several threads writes; the loop's end orders that write
 * before the read in `forward`. */
static bool claim_failure(ft_exec *exec) {
  int expected = 0;
  return atomic_compare_exchange_strong(&exec->failed, &expected, 1);
}

int ft_rt_fail(ft_exec *exec, int code, const char *message) {
  if (claim_failure(exec))
    ft_fail(&exec->status, code, "%s", message);
  return code;
}

/* 0 none, 1 being written, 2 there. */
static atomic_int access_state;
static ft_status access_failure;

void ft_rt_fail_access(const char *access, int64_t at, int64_t limit) {
  int expected = 0;
  if (!atomic_compare_exchange_strong(&access_state, &expected, 1))
    return;
  ft_fail(&access_failure, FT_ERROR_ACCESS,
          "%s, at byte %" PRId64 " of %" PRId64, access, at, limit);
  atomic_store(&access_state, 2);
}

void ft_rt_fail_undefined(const char *what) {
  int expected = 0;
  if (!atomic_compare_exchange_strong(&access_state, &expected, 1))
    return;
  ft_fail(&access_failure, FT_ERROR_ACCESS, "%s", what);
  atomic_store(&access_state, 2);
}

bool ft_check_accesses(ft_status *status) {
  int expected = 2;
  if (!atomic_compare_exchange_strong(&access_state, &expected, 1))
    return true;
  *status = access_failure;
  atomic_store(&access_state, 0);
  return false;
}

int ft_rt_fail_index(ft_exec *exec, const char *where, int64_t index,
                     int64_t size) {
  if (claim_failure(exec))
    ft_fail(&exec->status, FT_ERROR_INDEX,
            "%s: index %" PRId64 " is out of range for size %" PRId64, where,
            index, size);
  return FT_ERROR_INDEX;
}
