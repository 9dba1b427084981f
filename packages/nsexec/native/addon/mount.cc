// mount(2), umount2(2) and the descriptor-based calls: open_tree(2), move_mount(2), mount_setattr(2).
#include <errno.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "addon.h"

static Napi::Value Mount(const Napi::CallbackInfo& info) {
  const OptionalString source(info[0]), fsType(info[2]), data(info[4]);
  const std::string target = info[1].As<Napi::String>();
  if (mount(source.c_str(), target.c_str(), fsType.c_str(), ToU64(info[3]), data.c_str()) != 0)
    ThrowErrno(info.Env(), errno, "mount", target);
  return info.Env().Undefined();
}

static Napi::Value Umount2(const Napi::CallbackInfo& info) {
  const std::string target = info[0].As<Napi::String>();
  if (umount2(target.c_str(), ToInt(info[1])) != 0) ThrowErrno(info.Env(), errno, "umount2", target);
  return info.Env().Undefined();
}

static Napi::Value OpenTree(const Napi::CallbackInfo& info) {
  const std::string path = info[1].As<Napi::String>();
  const unsigned flags = static_cast<unsigned>(ToU64(info[2])) | OPEN_TREE_CLOEXEC;
  const long fd = syscall(SYS_open_tree, ToInt(info[0]), path.c_str(), flags);
  if (fd < 0) ThrowErrno(info.Env(), errno, "open_tree", path);
  return Napi::Number::New(info.Env(), static_cast<double>(fd));
}

static Napi::Value MoveMount(const Napi::CallbackInfo& info) {
  const std::string from = info[1].As<Napi::String>(), to = info[3].As<Napi::String>();
  const unsigned flags = static_cast<unsigned>(ToU64(info[4]));
  if (syscall(SYS_move_mount, ToInt(info[0]), from.c_str(), ToInt(info[2]), to.c_str(), flags) != 0)
    ThrowErrno(info.Env(), errno, "move_mount", to);
  return info.Env().Undefined();
}

static Napi::Value MountSetattr(const Napi::CallbackInfo& info) {
  const std::string path = info[1].As<Napi::String>();
  mount_attr attributes = {};
  attributes.attr_set = ToU64(info[3]);
  attributes.attr_clr = ToU64(info[4]);
  attributes.propagation = ToU64(info[5]);
  attributes.userns_fd = ToU64(info[6]);
  const unsigned flags = static_cast<unsigned>(ToU64(info[2]));
  if (syscall(SYS_mount_setattr, ToInt(info[0]), path.c_str(), flags, &attributes, sizeof attributes) != 0)
    ThrowErrno(info.Env(), errno, "mount_setattr", path);
  return info.Env().Undefined();
}

void InitMount(Napi::Env env, Napi::Object exports) {
  exports.Set("mount", Napi::Function::New(env, Mount));
  exports.Set("umount2", Napi::Function::New(env, Umount2));
  exports.Set("openTree", Napi::Function::New(env, OpenTree));
  exports.Set("moveMount", Napi::Function::New(env, MoveMount));
  exports.Set("mountSetattr", Napi::Function::New(env, MountSetattr));
}
