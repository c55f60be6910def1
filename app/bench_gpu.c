// SPDX-License-Identifier: Apache-2.0
// The GPU's part of `penstock bench`: copies, vector add, tiled matmul beside cuBLAS.
#include "app/app.h"
#include "app/bench.h"

#include "kernels/device_info.h"
#include "kernels/measure.h"

static bool bench_copies(struct ps_error *error)
{
    struct ps_copy_rates rates;
    if (!ps_gpu_copy_rates(0, 256u << 20, &rates, error))
        return false;
    app_print("copies of 256 MiB, GB/s       to device   to host      both\n");
    app_print("  %-26s %10.1f %9.1f %9.1f\n", "pinned memory", rates.pinned_to_device,
              rates.pinned_to_host, rates.pinned_both);
    app_print("  %-26s %10.1f %9.1f\n", "pageable memory", rates.pageable_to_device,
              rates.pageable_to_host);
    return true;
}

static bool bench_vector_add(struct ps_error *error)
{
    struct ps_vector_add r;
    if (!ps_measure_vector_add(0, 10000000, &r, error))
        return false;
    app_print("\nvector add, 10 million float32       ms      GB/s  speed-up\n");
    app_print("  %-30s %8.3f %9.1f %9s\n", "cpu, one thread", r.cpu_ms, r.bytes / r.cpu_ms * 1e-6, "1");
    app_print("  %-30s %8.3f %9.1f %8.1fx\n", "gpu, data already there", r.kernel_ms,
              r.bytes / r.kernel_ms * 1e-6, r.cpu_ms / r.kernel_ms);
    app_print("  %-30s %8.3f %9.1f %8.1fx\n", "gpu, with copies", r.with_copies_ms,
              r.bytes / r.with_copies_ms * 1e-6, r.cpu_ms / r.with_copies_ms);
    app_print("  results: %lld of 10000000 differ\n", (long long)r.different);
    return r.different == 0 ||
           ps_fail(error, PS_DEVICE, "vector add: %lld elements differ between cpu and GPU",
                   (long long)r.different);
}

static bool bench_matmul(struct ps_error *error)
{
    static const int sizes[] = {1024, 4096};
    app_print("\nmatmul n x n, float32         tiled ms   GFLOP/s  cuBLAS ms   GFLOP/s  difference\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ps_matmul_times r;
        if (!ps_measure_matmul(0, sizes[i], &r, error))
            return false;
        app_print("  n = %-22d %9.3f %9.0f %10.3f %9.0f %11.2g\n", sizes[i], r.tiled_ms,
                  r.tiled_gflops, r.cublas_ms, r.cublas_gflops, r.largest_difference);
    }
    return true;
}

enum ps_status bench_gpu(void)
{
    struct ps_error error = {0};
    if (bench_copies(&error) && bench_vector_add(&error) && bench_matmul(&error))
        return PS_OK;
    return app_fail(&error);
}
