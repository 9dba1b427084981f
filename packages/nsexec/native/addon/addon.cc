#include "addon.h"

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  InitFile(env, exports);
  InitLoop(env, exports);
  InitMount(env, exports);
  InitNamespace(env, exports);
  InitPidfd(env, exports);
  InitSocket(env, exports);
  InitSpawn(env, exports);
  InitWatch(env, exports);
  return exports;
}

NODE_API_MODULE(nsexec, Init)
