/* Calls the compiled model. The plug-in is not needed any more. */
#include "distances.h"

#include <stdio.h>
#include <stdlib.h>

static void check(ft_status status) {
  if (status.code == FT_OK)
    return;
  fprintf(stderr, "%s\n", status.message);
  exit(1);
}

int main(void) {
  ft_model *model;
  check(distances_load(NULL, &model));

  float points[3][2] = {{0, 0}, {1, 2}, {4, 5}};
  float centers[2][2] = {{1, 1}, {5, 5}};
  float nearest[3];
  check(distances_forward(model, &points[0][0], &centers[0][0], nearest, NULL));

  for (int i = 0; i < 3; ++i)
    printf("%g\n", nearest[i]);
  distances_unload(model);
  return 0;
}
