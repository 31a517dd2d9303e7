/* Bytes of a processor's vector. Compilers keep longer ones in memory. */

#if defined(__AVX512F__)
#define REGISTER 64
#elif defined(__AVX__)
#define REGISTER 32
#else
#define REGISTER 16
#endif
