// One level of a breadth-first search: new vertices gather in a queue in shared memory.

constexpr int kQueue = 1024;

extern "C" __global__ void bfs_level(const int* edges, const int* offsets, int* distance, const int* frontier, int frontier_size, int* next, int* next_size, int level) {
    __shared__ int queue[kQueue];
    __shared__ int queued;
    __shared__ int place;
    if (threadIdx.x == 0) queued = 0;                                              // site: queued-clear
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < frontier_size) {
        int vertex = frontier[i];
        for (int e = offsets[vertex]; e < offsets[vertex + 1]; ++e) {
            int neighbour = edges[e];
            if (atomicCAS(&distance[neighbour], -1, level) == -1) {
                int at = atomicAdd(&queued, 1);                                    // site: queued-add
                if (at < kQueue) queue[at] = neighbour;                            // site: queue-store
                else next[atomicAdd(next_size, 1)] = neighbour;
            }
        }
    }
    __syncthreads();
    int n = min(queued, kQueue);                                                   // site: queued-load
    if (threadIdx.x == 0) place = atomicAdd(next_size, n);                         // site: place-store
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) next[place + j] = queue[j];  // site: queue-load
}
