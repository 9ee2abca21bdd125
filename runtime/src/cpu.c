/*===- cpu.c - Can this CPU run the model? -------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checked before any generated code runs, so that a model built for another
 * CPU is refused with a sentence and never ends in SIGILL. A feature counts
 * only if the operating system saves its registers too (XCR0).
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "internal.h"

#include <cpuid.h>
#include <sched.h>

enum { EAX, EBX, ECX, EDX };
enum { NONE = 0, AVX = 0x6, AVX512 = 0xe6, AMX = 0x60000, APX = 0x80000 };

enum {
#define FT_CPU_FEATURE(enumerator, name, leaf, subleaf, reg, bit, os)          \
  ROW_##enumerator,
#include "cpu_features.def"
  NUM_ROWS
};

typedef struct row {
  const char *name;
  uint32_t leaf;
  uint32_t subleaf;
  uint8_t reg;
  uint8_t bit;
  uint32_t os;
} row;

static const row kRows[] = {
#define FT_CPU_FEATURE(enumerator, name, leaf, subleaf, reg, bit, os)          \
  {name, leaf, subleaf, reg, bit, os},
#include "cpu_features.def"
};

static uint32_t cpuid_register(uint32_t leaf, uint32_t subleaf, int reg) {
  uint32_t r[4] = {0, 0, 0, 0};
  /* Zeros when the CPU has no such leaf. */
  __get_cpuid_count(leaf, subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]);
  return r[reg];
}

/* The register sets that the operating system saves. */
static uint64_t enabled_registers(void) {
  const uint32_t osxsave = 1u << 27;
  if (!(cpuid_register(1, 0, ECX) & osxsave))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t)high << 32) | low;
}

static bool has_row(int index, uint64_t registers) {
  const row *r = &kRows[index];
  if (!(cpuid_register(r->leaf, r->subleaf, r->reg) >> r->bit & 1))
    return false;
  if ((registers & r->os) != r->os)
    return false;
  if (index == ROW_AVX10_1 || index == ROW_AVX10_2) {
    uint32_t version = cpuid_register(0x24, 0, EBX) & 0xff;
    return version >= (index == ROW_AVX10_1 ? 1u : 2u);
  }
  return true;
}

/* "x86-64-v3": the highest level of the psABI that this CPU has in full. */
static const char *level_name(uint64_t registers) {
  static const uint8_t kV2[] = {ROW_CX16,  ROW_SAHF,  ROW_POPCNT, ROW_SSE3,
                                ROW_SSE41, ROW_SSE42, ROW_SSSE3};
  static const uint8_t kV3[] = {ROW_AVX, ROW_AVX2,  ROW_BMI,  ROW_BMI2,
                                ROW_FMA, ROW_LZCNT, ROW_F16C, ROW_MOVBE};
  static const uint8_t kV4[] = {ROW_AVX512F, ROW_AVX512BW, ROW_AVX512CD,
                                ROW_AVX512DQ, ROW_AVX512VL};
  for (size_t i = 0; i < sizeof kV2; ++i)
    if (!has_row(kV2[i], registers))
      return "x86-64";
  for (size_t i = 0; i < sizeof kV3; ++i)
    if (!has_row(kV3[i], registers))
      return "x86-64-v2";
  for (size_t i = 0; i < sizeof kV4; ++i)
    if (!has_row(kV4[i], registers))
      return "x86-64-v3";
  return "x86-64-v4";
}

/* The name that the CPU gives itself, without the spaces around it. */
static void brand_name(char text[49]) {
  uint32_t words[12] = {0};
  for (uint32_t i = 0; i < 3; ++i)
    __get_cpuid_count(0x80000002u + i, 0, &words[4 * i], &words[4 * i + 1],
                      &words[4 * i + 2], &words[4 * i + 3]);
  const char *raw = (const char *)words;
  size_t size = 0;
  for (size_t i = 0; i < sizeof words && raw[i]; ++i)
    if (raw[i] != ' ' || (size && text[size - 1] != ' '))
      text[size++] = raw[i];
  while (size && text[size - 1] == ' ')
    --size;
  text[size] = '\0';
}

bool ft_check_cpu(const ft_model_desc *desc, ft_status *status) {
  uint64_t registers = enabled_registers();
  ft_text missing = {.size = 0};
  for (uint32_t i = 0; i < desc->num_features; ++i) {
    int index = desc->features[i];
    if (index < NUM_ROWS && has_row(index, registers))
      continue;
    ft_text_add(&missing, "%s%s", missing.size ? ", " : "",
                index < NUM_ROWS ? kRows[index].name : "an unknown feature");
  }
  if (!missing.size)
    return true;
  char brand[49];
  brand_name(brand);
  const char *level = level_name(registers);
  return ft_fail(status, FT_ERROR_CPU,
                 "\"%s\" was compiled for the CPU %s; this CPU (%s, %s) lacks "
                 "%s: compile with --cpu %s",
                 desc->info.name, desc->info.cpu, brand[0] ? brand : "unnamed",
                 level, missing.chars, level);
}

int32_t ft_count_cpus(void) {
  unsigned long mask[128] = {0}; /* of 8192 CPUs */
  int32_t count = 0;
  if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) == 0)
    for (size_t i = 0; i < sizeof mask / sizeof mask[0]; ++i)
      for (unsigned long rest = mask[i]; rest; rest &= rest - 1)
        ++count;
  return count > 0 ? count : 1;
}
