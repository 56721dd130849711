// A driver with two GPUs, for tests: as much of NVML as Muster asks for. The second GPU does not tell its power.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; } Pci;

static int numbers[2] = {0, 1};

int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  const char* wanted = getenv("FAKE_GPUS");
  *count = wanted != NULL && *wanted == '1' ? 1 : 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return 2;
  *device = &numbers[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  (void)device;
  return snprintf(name, size, "NVIDIA H200") > 0 ? 0 : 1;
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  memset(pci, 0, sizeof *pci);
  pci->bus = 0x3b + (unsigned)*(int*)device;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  memory->total = 150ull << 30;
  memory->used = (unsigned long long)(*(int*)device + 1) << 30;
  memory->free = memory->total - memory->used;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  use->gpu = 25u * (unsigned)(*(int*)device + 1);
  use->memory = 1;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 310500;
  return *(int*)device == 0 ? 0 : 3;  // not supported
}
