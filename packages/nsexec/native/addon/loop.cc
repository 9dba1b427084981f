// Loop devices: the ioctls of <linux/loop.h>. Each takes an open descriptor of the device.
#include <errno.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include "addon.h"

static Napi::Value LoopGetFree(const Napi::CallbackInfo& info) {
  const int index = ioctl(ToInt(info[0]), LOOP_CTL_GET_FREE);
  if (index < 0) ThrowErrno(info.Env(), errno, "ioctl LOOP_CTL_GET_FREE", "/dev/loop-control");
  return Napi::Number::New(info.Env(), index);
}

static Napi::Value LoopConfigure(const Napi::CallbackInfo& info) {
  loop_config config = {};
  config.fd = static_cast<uint32_t>(ToInt(info[1]));
  config.info.lo_offset = ToU64(info[2]);
  config.info.lo_sizelimit = ToU64(info[3]);
  config.info.lo_flags = static_cast<uint32_t>(ToU64(info[4]));
  if (ioctl(ToInt(info[0]), LOOP_CONFIGURE, &config) != 0) ThrowErrno(info.Env(), errno, "ioctl LOOP_CONFIGURE");
  return info.Env().Undefined();
}

static Napi::Value LoopClear(const Napi::CallbackInfo& info) {
  if (ioctl(ToInt(info[0]), LOOP_CLR_FD) != 0) ThrowErrno(info.Env(), errno, "ioctl LOOP_CLR_FD");
  return info.Env().Undefined();
}

static Napi::Value LoopStatus(const Napi::CallbackInfo& info) {
  loop_info64 status = {};
  if (ioctl(ToInt(info[0]), LOOP_GET_STATUS64, &status) != 0)
    ThrowErrno(info.Env(), errno, "ioctl LOOP_GET_STATUS64");
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("number", Napi::Number::New(info.Env(), status.lo_number));
  result.Set("device", Napi::BigInt::New(info.Env(), static_cast<uint64_t>(status.lo_device)));
  result.Set("inode", Napi::BigInt::New(info.Env(), static_cast<uint64_t>(status.lo_inode)));
  result.Set("offset", Napi::BigInt::New(info.Env(), static_cast<uint64_t>(status.lo_offset)));
  result.Set("sizeLimit", Napi::BigInt::New(info.Env(), static_cast<uint64_t>(status.lo_sizelimit)));
  result.Set("flags", Napi::Number::New(info.Env(), status.lo_flags));
  return result;
}

void InitLoop(Napi::Env env, Napi::Object exports) {
  exports.Set("loopGetFree", Napi::Function::New(env, LoopGetFree));
  exports.Set("loopConfigure", Napi::Function::New(env, LoopConfigure));
  exports.Set("loopClear", Napi::Function::New(env, LoopClear));
  exports.Set("loopStatus", Napi::Function::New(env, LoopStatus));
}
