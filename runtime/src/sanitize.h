/*===- sanitize.h - Pieces of blocks as AddressSanitizer sees them -- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The runtime hands out pieces of a few blocks. AddressSanitizer knows blocks
 * only, so in the instrumented archive (runtime/CMakeLists.txt) what is not to
 * be touched now is closed. Eight bytes share a mark: closing a piece closes
 * the whole of its first and last eight, opening one may open up to seven bytes
 * in front of it. Elsewhere these do nothing.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_SANITIZE_H
#define FORETRACE_RUNTIME_SANITIZE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FT_SANITIZED 1
#endif
#endif

#ifdef FT_SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define FT_SANITIZED 0
#endif

static inline void ft_open_memory(const void *start, size_t bytes) {
#if FT_SANITIZED
  __asan_unpoison_memory_region(start, bytes);
#else
  (void)start, (void)bytes;
#endif
}

/* As ft_close_memory, but what lies in front in the same eight stays open. For
 * a gap that ends at a multiple of 8. */
static inline void ft_close_gap(const void *start, size_t bytes) {
#if FT_SANITIZED
  __asan_poison_memory_region(start, bytes);
#else
  (void)start, (void)bytes;
#endif
}

static inline void ft_close_memory(const void *start, size_t bytes) {
#if FT_SANITIZED
  uintptr_t low = (uintptr_t)start & ~(uintptr_t)7;
  uintptr_t high = ((uintptr_t)start + bytes + 7) & ~(uintptr_t)7;
  __asan_poison_memory_region((const void *)low, high - low);
#else
  (void)start, (void)bytes;
#endif
}

#endif /* FORETRACE_RUNTIME_SANITIZE_H */
