/* main.c - Trains a compiled model from C.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *   train MODEL.so digits.bin WEIGHTS
 *
 * The parameters are this program's: it loads them once, adds the gradients of
 * each step to them with momentum, writes them to WEIGHTS, and reads them back
 * into another instance, which must classify as the first one does. */
#include <dlfcn.h>
#include <foretrace/runtime.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 32, PIXELS = 64, CLASSES = 10, EPOCHS = 12 };
static const float RATE = 0.05f, MOMENTUM = 0.9f;

static void check(bool good, const char *what) {
  if (good)
    return;
  fprintf(stderr, "train: %s\n", what);
  exit(1);
}

static void check_status(ft_status status) {
  check(status.code == FT_OK, status.message);
}

/*===- Data ---------------------------------------------------------------===*/

typedef struct digits {
  unsigned char *bytes; /* 64 pixels and a label each */
  int count, trained;   /* the first `trained` are for training */
} digits;

static digits read_digits(const char *path) {
  FILE *file = fopen(path, "rb");
  check(file, "the digits cannot be opened");
  check(fseek(file, 0, SEEK_END) == 0, "the digits cannot be read");
  long size = ftell(file);
  check(size >= 2 * BATCH * (PIXELS + 1), "there are too few digits");
  rewind(file);
  digits d = {malloc((size_t)size), (int)(size / (PIXELS + 1)), 0};
  check(d.bytes && fread(d.bytes, 1, (size_t)size, file) == (size_t)size,
        "the digits cannot be read");
  fclose(file);
  d.trained = d.count * 4 / 5 / BATCH * BATCH;
  return d;
}

static void fill_batch(const digits *d, int first, float *images,
                       int64_t *labels) {
  for (int i = 0; i < BATCH; ++i) {
    const unsigned char *one = d->bytes + (size_t)(first + i) * (PIXELS + 1);
    for (int p = 0; p < PIXELS; ++p)
      images[i * PIXELS + p] = (float)one[p] / 8 - 1;
    labels[i] = one[PIXELS];
  }
}

/*===- A model and what belongs to it -------------------------------------===*/

typedef struct trainee {
  const ft_api *api;
  ft_model *model;
  int32_t count;
  DLTensor *state, *gradients;
  float **momentum;
} trainee;

static int64_t elements(const ft_value_info *info) {
  int64_t n = 1;
  for (int32_t d = 0; d < info->ndim; ++d)
    n *= info->sizes[d];
  return n;
}

static DLTensor tensor_for(const ft_value_info *info) {
  size_t bytes = (size_t)elements(info) * info->dtype.bits / 8;
  void *data = calloc(bytes + 1, 1);
  check(data, "no memory");
  return ft_tensor(data, info->dtype.code, info->dtype.bits, info->ndim,
                   info->sizes);
}

static trainee make_trainee(const ft_api *api) {
  trainee t = {.api = api, .count = api->info->num_state};
  check_status(api->load(NULL, &t.model));
  t.state = calloc((size_t)t.count, sizeof *t.state);
  t.gradients = calloc((size_t)t.count, sizeof *t.gradients);
  t.momentum = calloc((size_t)t.count, sizeof *t.momentum);
  check(t.state && t.gradients && t.momentum, "no memory");
  for (int32_t i = 0; i < t.count; ++i) {
    const ft_value_info *info = api->info->state[i];
    t.state[i] = tensor_for(info);
    if (!(info->flags & FT_VALUE_GRADIENT))
      continue;
    t.gradients[i] = tensor_for(info);
    t.momentum[i] = calloc((size_t)elements(info), sizeof(float));
    check(t.momentum[i], "no memory");
  }
  check_status(api->load_parameters(t.model, t.state, t.count));
  return t;
}

static void free_trainee(trainee *t) {
  for (int32_t i = 0; i < t->count; ++i) {
    free(t->state[i].data);
    free(t->gradients[i].data);
    free(t->momentum[i]);
  }
  free(t->state);
  free(t->gradients);
  free(t->momentum);
  t->api->unload(t->model);
}

/* Forward alone, or forward and backward, on one batch. */
static float run(trainee *t, int32_t phase, const float *images,
                 const int64_t *labels, float *logits) {
  static const int64_t image_shape[] = {BATCH, 1, 8, 8},
                       label_shape[] = {BATCH},
                       logits_shape[] = {BATCH, CLASSES};
  float loss = 0;
  DLTensor inputs[] = {ft_tensor(images, kDLFloat, 32, 4, image_shape),
                       ft_tensor(labels, kDLInt, 64, 1, label_shape)};
  DLTensor outputs[] = {ft_tensor(&loss, kDLFloat, 32, 0, NULL),
                        ft_tensor(logits, kDLFloat, 32, 2, logits_shape)};
  void *saved = NULL;
  ft_train_call call = {.struct_size = sizeof call,
                        .phase = phase,
                        .num_inputs = 2,
                        .num_outputs = 2,
                        .num_state = t->count,
                        .inputs = inputs,
                        .outputs = outputs,
                        .state = t->state,
                        .gradients = t->gradients,
                        .saved = &saved};
  check_status(t->api->train(t->model, &call));
  t->api->release(t->model, saved); /* a forward that no backward follows */
  return loss;
}

static void update(trainee *t) {
  for (int32_t i = 0; i < t->count; ++i) {
    if (!t->momentum[i])
      continue;
    float *value = t->state[i].data, *gradient = t->gradients[i].data;
    int64_t n = elements(t->api->info->state[i]);
    for (int64_t k = 0; k < n; ++k) {
      t->momentum[i][k] = MOMENTUM * t->momentum[i][k] + gradient[k];
      value[k] -= RATE * t->momentum[i][k];
    }
  }
}

/* How many of the digits that were not trained are recognised. */
static int count_right(trainee *t, const digits *d, int *seen) {
  float images[BATCH * PIXELS], logits[BATCH * CLASSES];
  int64_t labels[BATCH];
  int right = 0;
  *seen = 0;
  for (int first = d->trained; first + BATCH <= d->count; first += BATCH) {
    fill_batch(d, first, images, labels);
    run(t, FT_TRAIN_FORWARD, images, labels, logits);
    for (int i = 0; i < BATCH; ++i, ++*seen) {
      int best = 0;
      for (int c = 1; c < CLASSES; ++c)
        if (logits[i * CLASSES + c] > logits[i * CLASSES + best])
          best = c;
      right += best == labels[i];
    }
  }
  return right;
}

/*===- Weights ------------------------------------------------------------===*/

static void copy_weights(trainee *t, const char *path, bool save) {
  FILE *file = fopen(path, save ? "wb" : "rb");
  check(file, "the weights cannot be opened");
  for (int32_t i = 0; i < t->count; ++i) {
    const ft_value_info *info = t->api->info->state[i];
    size_t bytes = (size_t)elements(info) * info->dtype.bits / 8;
    size_t done = save ? fwrite(t->state[i].data, 1, bytes, file)
                       : fread(t->state[i].data, 1, bytes, file);
    check(done == bytes, "the weights cannot be copied");
  }
  check(fclose(file) == 0, "the weights cannot be written");
}

int main(int argc, char **argv) {
  check(argc == 4, "usage: train MODEL.so digits.bin WEIGHTS");
  void *library = dlopen(argv[1], RTLD_NOW);
  check(library, "the model cannot be opened");
  ft_api_getter get = NULL;
  *(void **)&get = dlsym(library, FT_API_SYMBOL);
  check(get, "this is no compiled model");
  const ft_api *api = get();
  check(api->info->num_inputs == 2 && api->info->num_outputs == 2,
        "this model is not one of the sample's");
  digits d = read_digits(argv[2]);
  trainee t = make_trainee(api);

  float images[BATCH * PIXELS], logits[BATCH * CLASSES];
  int64_t labels[BATCH];
  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    float loss = 0;
    for (int first = 0; first < d.trained; first += BATCH) {
      fill_batch(&d, first, images, labels);
      loss += run(&t, FT_TRAIN_STEP, images, labels, logits);
      update(&t);
    }
    printf("epoch %2d: loss %.4f\n", epoch + 1,
           (double)loss * BATCH / (double)d.trained);
  }
  copy_weights(&t, argv[3], true);
  int seen = 0, right = count_right(&t, &d, &seen);
  printf("%d of %d digits that it has not seen\n", right, seen);

  trainee again = make_trainee(api);
  copy_weights(&again, argv[3], false);
  int agreed = count_right(&again, &d, &seen);
  free_trainee(&again);
  free_trainee(&t);
  free(d.bytes);
  check(agreed == right, "the weights that were read back classify otherwise");
  check(right * 100 >= seen * 95, "fewer than 95 of 100 are recognised");
  return 0;
}
