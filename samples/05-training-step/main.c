/* main.c - Trains a compiled model from C.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *   train MODEL.so digits.bin CHECKPOINT RATE
 *
 * The parameters and the optimizer's state are this program's; a step of the
 * model changes them. Half way it writes both to CHECKPOINT. Another instance
 * reads them back and goes on from there: it must end where the first one
 * does. */
#include <dlfcn.h>
#include <foretrace/runtime.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, PIXELS = 64, CLASSES = 10, EPOCHS = 12 };

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
  ft_optimizer_options options;
  int32_t count;
  DLTensor *state, *gradients, *optimizer;
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

static DLTensor *tensors_for(const ft_value_info *const *infos, int32_t count,
                             uint32_t flags) {
  DLTensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
  check(tensors, "no memory");
  for (int32_t i = 0; i < count; ++i)
    if ((infos[i]->flags & flags) == flags)
      tensors[i] = tensor_for(infos[i]);
  return tensors;
}

static trainee make_trainee(const ft_api *api, double rate) {
  const ft_model_info *info = api->info;
  trainee t = {.api = api, .options = *info->optimizer_defaults};
  t.options.lr = rate;
  t.count = info->num_state;
  check_status(api->load(NULL, &t.model));
  t.state = tensors_for(info->state, t.count, 0);
  t.gradients = tensors_for(info->state, t.count, FT_VALUE_GRADIENT);
  t.optimizer = tensors_for(info->optimizer, info->num_optimizer, 0);
  check_status(api->load_parameters(t.model, t.state, t.count));
  check_status(api->init_optimizer(t.model, t.optimizer, info->num_optimizer));
  return t;
}

static void free_tensors(DLTensor *tensors, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    free(tensors[i].data);
  free(tensors);
}

static void free_trainee(trainee *t) {
  free_tensors(t->state, t->count);
  free_tensors(t->gradients, t->count);
  free_tensors(t->optimizer, t->api->info->num_optimizer);
  t->api->unload(t->model);
}

/* Forward alone, or a whole step, on one batch. */
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
                        .optimizer = t->optimizer,
                        .saved = &saved,
                        .optimizer_options = &t->options};
  check_status(t->api->train(t->model, &call));
  t->api->release(t->model, saved); /* a forward that no backward follows */
  return loss;
}

static void train(trainee *t, const digits *d, int from, int to) {
  float images[BATCH * PIXELS], logits[BATCH * CLASSES];
  int64_t labels[BATCH];
  for (int epoch = from; epoch < to; ++epoch) {
    float loss = 0;
    for (int first = 0; first < d->trained; first += BATCH) {
      fill_batch(d, first, images, labels);
      loss += run(t, FT_TRAIN_STEP, images, labels, logits);
    }
    printf("epoch %2d: loss %.4f\n", epoch + 1,
           (double)loss * BATCH / (double)d->trained);
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

/*===- Checkpoints --------------------------------------------------------===*/

static void copy_tensors(FILE *file, const ft_value_info *const *infos,
                         DLTensor *tensors, int32_t count, bool save) {
  for (int32_t i = 0; i < count; ++i) {
    size_t bytes = (size_t)elements(infos[i]) * infos[i]->dtype.bits / 8;
    size_t done = save ? fwrite(tensors[i].data, 1, bytes, file)
                       : fread(tensors[i].data, 1, bytes, file);
    check(done == bytes, "the checkpoint cannot be copied");
  }
}

static void copy_checkpoint(trainee *t, const char *path, bool save) {
  const ft_model_info *info = t->api->info;
  FILE *file = fopen(path, save ? "wb" : "rb");
  check(file, "the checkpoint cannot be opened");
  copy_tensors(file, info->state, t->state, t->count, save);
  copy_tensors(file, info->optimizer, t->optimizer, info->num_optimizer, save);
  check(fclose(file) == 0, "the checkpoint cannot be written");
}

static bool same_state(const trainee *a, const trainee *b) {
  for (int32_t i = 0; i < a->count; ++i) {
    const ft_value_info *info = a->api->info->state[i];
    if (memcmp(a->state[i].data, b->state[i].data,
               (size_t)elements(info) * info->dtype.bits / 8))
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  check(argc == 5, "usage: train MODEL.so digits.bin CHECKPOINT RATE");
  void *library = dlopen(argv[1], RTLD_NOW);
  check(library, "the model cannot be opened");
  ft_api_getter get = NULL;
  *(void **)&get = dlsym(library, FT_API_SYMBOL);
  check(get, "this is no compiled model");
  const ft_api *api = get();
  check(api->info->num_inputs == 2 && api->info->num_outputs == 2,
        "this model is not one of the sample's");
  check(api->info->optimizer_name, "the model has no optimizer");
  double rate = strtod(argv[4], NULL);
  digits d = read_digits(argv[2]);
  printf("%s with %s, rate %g\n", api->info->name, api->info->optimizer_name,
         rate);

  trainee t = make_trainee(api, rate);
  train(&t, &d, 0, EPOCHS / 2);
  copy_checkpoint(&t, argv[3], true);
  train(&t, &d, EPOCHS / 2, EPOCHS);
  printf("once more from the checkpoint\n");
  trainee again = make_trainee(api, rate);
  copy_checkpoint(&again, argv[3], false);
  train(&again, &d, EPOCHS / 2, EPOCHS);
  check(same_state(&t, &again),
        "training that went on from the checkpoint ended elsewhere");
  free_trainee(&again);

  int seen = 0, right = count_right(&t, &d, &seen);
  printf("%d of %d digits that it has not seen\n", right, seen);
  free_trainee(&t);
  free(d.bytes);
  check(right * 100 >= seen * 95, "fewer than 95 of 100 are recognised");
  return 0;
}
