/* CUPTI's callbacks without a GPU: fake_cuda.c calls these two, and a subscriber hears of it where it has asked to. */
#include <cuda.h>
#include <cupti.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
static CUpti_CallbackFunc subscriber;
static char asked[CUPTI_DRIVER_TRACE_CBID_SIZE], resources[64];

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *own) {
    if (getenv("PTXAUDIT_FAKE_CUPTI_BUSY")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    subscriber = callback;
    *out = (CUpti_SubscriberHandle)&subscriber;
    return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle it, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    (domain == CUPTI_CB_DOMAIN_RESOURCE ? resources : asked)[id] = (char)on;
    return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle it, CUpti_CallbackDomain domain) {
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) memset(resources, (int)on, sizeof resources);
    else memset(asked, (int)on, sizeof asked);
    return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "?";
    return CUPTI_SUCCESS;
}

EXPORT void fake_cupti_loaded(unsigned id, const void *code, size_t size) {
    CUpti_ModuleResourceData module = {.moduleId = id, .cubinSize = size, .pCubin = code};
    CUpti_ResourceData data = {.resourceDescriptor = &module};
    if (subscriber && resources[CUPTI_CBID_RESOURCE_MODULE_LOADED])
        subscriber(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
}
EXPORT void fake_cupti_unloaded(unsigned id) {
    CUpti_ModuleResourceData module = {.moduleId = id};
    CUpti_ResourceData data = {.resourceDescriptor = &module};
    if (subscriber && resources[CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING])
        subscriber(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &data);
}
EXPORT void fake_cupti_call(const char *api, const char *symbol, const void *params, int exit) {
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackId id = !strcmp(api, "cuLaunchKernel") ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
                        : !strcmp(api, "cuLaunchKernelEx") ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx
                        : CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData;
    CUpti_CallbackData data = {.callbackSite = exit ? CUPTI_API_EXIT : CUPTI_API_ENTER, .functionName = api,
                               .functionParams = params, .functionReturnValue = &result, .symbolName = symbol};
    if (subscriber && asked[id]) subscriber(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}
