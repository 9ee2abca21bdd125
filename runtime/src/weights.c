/*===- weights.c - Finds, checks and maps the weights --------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "hash.h"
#include "internal.h"
#include "sanitize.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

/* The library's absolute path from /proc: dladdr gives the name that it was
 * opened by, which means something else after a chdir. */
static bool path_from_maps(const void *address, char *path) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return false;
  bool found = false;
  char line[MAX_PATH + 128];
  while (!found && fgets(line, sizeof line, maps)) {
    char *end; /* "low-high …", in hex */
    uintptr_t low = strtoull(line, &end, 16);
    uintptr_t high = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
    if ((uintptr_t)address < low || (uintptr_t)address >= high)
      continue;
    const char *name = strchr(line, '/');
    size_t size = name ? strlen(name) : 0;
    if (size < 2 || size > MAX_PATH || name[size - 1] != '\n')
      break;
    memcpy(path, name, size - 1);
    path[size - 1] = '\0';
    found = true;
  }
  fclose(maps);
  return found;
}

/* dir/NAME.so -> dir/NAME.weights; `path` holds MAX_PATH + 16 characters. */
static bool default_path(const ft_model_desc *desc, char *path) {
  Dl_info library;
  if (!dladdr(desc, &library) || !library.dli_fname)
    return false;
  if (library.dli_fname[0] == '/' || !path_from_maps(desc, path)) {
    if (strlen(library.dli_fname) >= MAX_PATH)
      return false;
    strcpy(path, library.dli_fname);
  }
  char *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  char *suffix = NULL;
  for (char *at = strstr(base, ".so"); at; at = strstr(at + 1, ".so"))
    suffix = at;
  strcpy(suffix ? suffix : path + strlen(path), ".weights");
  return true;
}

/* Is this the header that was written together with the library? */
static bool check_header(const ft_model_desc *desc, const char *path,
                         const ft_weights_header *header, off_t size,
                         ft_status *status) {
  const ft_model_info *info = &desc->info;
  if (memcmp(header->magic, FT_WEIGHTS_MAGIC, sizeof header->magic) != 0)
    return ft_fail(status, FT_ERROR_FILE, "weights \"%s\": not a weights file",
                   path);
  if (header->version != FT_WEIGHTS_VERSION ||
      header->header_bytes != sizeof *header)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\": version %u of the format, the model needs "
                   "%u",
                   path, header->version, FT_WEIGHTS_VERSION);
  if (ft_hash_bytes(header, offsetof(ft_weights_header, header_hash)) !=
      header->header_hash)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\": the header is damaged", path);
  if (memcmp(header->compile_id, info->compile_id, sizeof header->compile_id) !=
      0)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\": made for compile id %.32s, the model has "
                   "%.32s: keep the .so and .weights of one compile together",
                   path, header->compile_id, info->compile_id);
  if (header->header_hash != desc->weights_header_hash)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\": the header was changed", path);
  uint64_t expected = FT_WEIGHTS_DATA + info->weights_bytes;
  if (header->data_bytes != info->weights_bytes || (uint64_t)size != expected)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\": expected %" PRIu64 " bytes, got %" PRIu64,
                   path, expected, (uint64_t)size);
  return true;
}

static bool open_file(const ft_model_desc *desc, const char *path, int fd,
                      ft_weights *weights, ft_status *status) {
  struct stat st;
  ft_weights_header header;
  if (fstat(fd, &st) != 0)
    return ft_fail(status, FT_ERROR_FILE, "weights \"%s\" cannot be read: %s",
                   path, strerror(errno));
  ssize_t got = pread(fd, &header, sizeof header, 0);
  if (got < 0)
    return ft_fail(status, FT_ERROR_FILE, "weights \"%s\" cannot be read: %s",
                   path, strerror(errno));
  if ((size_t)got < sizeof header)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\": expected %" PRIu64 " bytes, got %" PRIu64,
                   path, FT_WEIGHTS_DATA + desc->info.weights_bytes,
                   (uint64_t)st.st_size);
  if (!check_header(desc, path, &header, st.st_size, status))
    return false;
  size_t bytes = (size_t)st.st_size;
  void *mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED)
    return ft_fail(status, FT_ERROR_MEMORY,
                   "weights \"%s\" cannot be mapped: %s", path,
                   strerror(errno));
  weights->mapping = mapping;
  weights->mapping_bytes = bytes;
  weights->data = (const uint8_t *)mapping + FT_WEIGHTS_DATA;
  return true;
}

bool ft_weights_open(const ft_model_desc *desc, const char *path,
                     ft_weights *weights, ft_status *status) {
  memset(weights, 0, sizeof *weights);
  if (desc->inline_weights) {
    weights->data = desc->inline_weights;
    return true;
  }
  char buffer[MAX_PATH + 16];
  if (!path) {
    if (!default_path(desc, buffer))
      return ft_fail(status, FT_ERROR_FILE,
                     "the place of \"%s\" on disk is not known: set "
                     "weights_path",
                     desc->info.name);
    path = buffer;
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return ft_fail(status, FT_ERROR_FILE,
                   "weights \"%s\" cannot be opened: %s; they belong beside "
                   "the .so, or set weights_path",
                   path, strerror(errno));
  bool opened = open_file(desc, path, fd, weights, status);
  close(fd);
  return opened;
}

bool ft_weights_verify(const ft_model_desc *desc, const ft_weights *weights,
                       ft_status *status) {
  /* The next call closes its gaps again. */
  ft_open_memory(weights->data, desc->info.weights_bytes);
  uint64_t hash = ft_hash_bytes(weights->data, desc->info.weights_bytes);
  if (hash != desc->weights_data_hash)
    return ft_fail(
        status, FT_ERROR_FILE,
        "the weights of \"%s\" are damaged: their hash is %016" PRIx64
        ", expected %016" PRIx64,
        desc->info.name, hash, desc->weights_data_hash);
  return true;
}

void ft_weights_close(ft_weights *weights) {
  if (weights->data)
    ft_open_memory(weights->data, ft_gen_desc.info.weights_bytes);
  if (weights->mapping)
    munmap(weights->mapping, weights->mapping_bytes);
}
