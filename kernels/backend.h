// SPDX-License-Identifier: Apache-2.0
// A backend is where stages run: memory, queues, copies, marks in time. Plain C, no CUDA here.
// Everything enqueued on one queue happens in order; queues are independent of each other.
// New backend = one folder ending in its row, and one line in kernels/backends.c.
#ifndef PS_KERNELS_BACKEND_H
#define PS_KERNELS_BACKEND_H

#include "base/error.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum ps_backend_id { PS_CPU, PS_CUDA, PS_BACKEND_COUNT };

enum ps_memory {
    PS_MEMORY_HOST,   // pinned where that has a meaning: what queues copy from and to
    PS_MEMORY_DEVICE, // what kernels read and write
};

struct ps_device_request {
    int device;            // index of the GPU
    int threads_per_block; // 0: chosen by occupancy
};

struct ps_device; // an opened backend; each backend's own struct begins with struct ps_device
struct ps_queue;  // likewise

struct ps_backend {
    enum ps_backend_id id;
    const char *name;
    // Host memory is device memory: the runner then copies nothing and shares one buffer.
    bool unified;
    // Fails with PS_DEVICE and says what is missing and what to do.
    bool (*open)(const struct ps_device_request *request, struct ps_device **device_out,
                 struct ps_error *error);
    void (*close)(struct ps_device *device);
    // 256-byte aligned; NULL and a PS_DEVICE error when there is not enough.
    void *(*alloc)(struct ps_device *device, enum ps_memory memory, size_t bytes,
                   struct ps_error *error);
    void (*free)(struct ps_device *device, enum ps_memory memory, void *data);
    // A queue with room for `marks` marks. Used by one thread at a time.
    bool (*queue_open)(struct ps_device *device, int marks, struct ps_queue **queue_out,
                       struct ps_error *error);
    void (*queue_close)(struct ps_queue *queue);
    // Enqueues; host memory must come from alloc.
    bool (*copy)(struct ps_queue *queue, void *to, const void *from, size_t bytes,
                 struct ps_error *error);
    bool (*clear)(struct ps_queue *queue, void *data, size_t bytes, struct ps_error *error);
    // Enqueues "note the time here" into mark number `index`, overwriting it.
    bool (*mark)(struct ps_queue *queue, int index, struct ps_error *error);
    // Until all that was enqueued is done. Faults of the device that happened on the way surface
    // here, with the usual cause in words.
    bool (*wait)(struct ps_queue *queue, struct ps_error *error);
    // After wait: the mark's time on ps_clock_ms's scale (base/clock.h).
    bool (*when)(struct ps_queue *queue, int index, double *ms_out, struct ps_error *error);
};

// Common heads; a backend's own structs begin with these.
struct ps_device {
    const struct ps_backend *backend;
    struct ps_device_request request;
    char description[128];     // "NVIDIA H200 (sm_90)", "2 threads, avx2"
    uint64_t memory_free;      // at opening; host memory available for cpu
    uint64_t memory_total;
};
struct ps_queue {
    struct ps_device *device;
};

// The row, or NULL when this build does not have it.
const struct ps_backend *ps_backend(enum ps_backend_id id);
// Why the cuda backend cannot run here, in one line with what to do; NULL when it can.
// Costs a driver call, no context.
const char *ps_cuda_missing(char *out, size_t out_size);

// One compiled kernel of a stage, for `plan` and the log. threads 0: not a GPU kernel.
struct ps_kernel_info {
    char name[64];
    int threads, registers, shared_bytes, local_bytes;
    int blocks_per_multiprocessor;
    double occupancy; // 0..1: resident threads over the most possible
};

#endif
