/* A shared library that is no plug-in. */
__attribute__((visibility("default"))) int answer(void) { return 42; }
