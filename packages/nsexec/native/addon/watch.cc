// Readiness of a descriptor on Node's own loop, through uv_poll.
#include <uv.h>

#include <memory>

#include "addon.h"

// new Watch(fd, callback): callback() whenever fd is readable or its peer has gone, until close().
// The descriptor must stay open until close() has been called.
class Watch : public Napi::ObjectWrap<Watch> {
 public:
  static void Register(Napi::Env env, Napi::Object exports) {
    exports.Set("Watch", DefineClass(env, "Watch",
                                     {
                                         InstanceMethod<&Watch::Close>("close"),
                                         InstanceMethod<&Watch::Ref>("ref"),
                                         InstanceMethod<&Watch::Unref>("unref"),
                                     }));
  }

  explicit Watch(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Watch>(info) {
    uv_loop_t* loop = nullptr;
    napi_get_uv_event_loop(info.Env(), &loop);
    Poll* poll = new Poll{info.Env()};
    const int failed = uv_poll_init(loop, &poll->handle, ToInt(info[0]));
    if (failed != 0) {
      delete poll;
      ThrowErrno(info.Env(), -failed, "epoll_ctl");
    }
    poll->handle.data = poll;
    poll->callback = Napi::Persistent(info[1].As<Napi::Function>());
    poll->context = std::make_unique<Napi::AsyncContext>(info.Env(), "nsexec.watch");
    napi_add_async_cleanup_hook(info.Env(), OnCleanup, poll, &poll->cleanup);
    uv_poll_start(&poll->handle, UV_READABLE | UV_DISCONNECT, OnReady);
    poll->owner = this;
    poll_ = poll;
    Napi::ObjectWrap<Watch>::Ref();  // an open watch is not garbage, whoever holds it
  }

  ~Watch() override {
    if (poll_) poll_->owner = nullptr;
  }

 private:
  // Lives until libuv has closed the handle, which may be later than the JavaScript object.
  struct Poll {
    Napi::Env env;
    uv_poll_t handle = {};
    Napi::FunctionReference callback;
    std::unique_ptr<Napi::AsyncContext> context;
    napi_async_cleanup_hook_handle cleanup = nullptr;
    Watch* owner = nullptr;
  };

  static void OnReady(uv_poll_t* handle, int, int) {
    Poll* poll = static_cast<Poll*>(handle->data);
    Napi::HandleScope scope(poll->env);
    try {
      poll->callback.MakeCallback(poll->env.Global(), {}, *poll->context);
    } catch (const Napi::Error& error) {
      napi_fatal_exception(poll->env, error.Value());
    }
  }

  static void OnCleanup(napi_async_cleanup_hook_handle, void* data) { Release(static_cast<Poll*>(data)); }

  static void Release(Poll* poll) {
    uv_handle_t* handle = reinterpret_cast<uv_handle_t*>(&poll->handle);
    if (uv_is_closing(handle)) return;
    uv_poll_stop(&poll->handle);
    if (poll->owner) {
      poll->owner->poll_ = nullptr;
      poll->owner->Napi::ObjectWrap<Watch>::Unref();
    }
    uv_close(handle, [](uv_handle_t* closed) {
      Poll* done = static_cast<Poll*>(closed->data);
      napi_remove_async_cleanup_hook(done->cleanup);
      delete done;
    });
  }

  void Close(const Napi::CallbackInfo&) {
    if (poll_) Release(poll_);
  }
  void Ref(const Napi::CallbackInfo&) {
    if (poll_) uv_ref(reinterpret_cast<uv_handle_t*>(&poll_->handle));
  }
  void Unref(const Napi::CallbackInfo&) {
    if (poll_) uv_unref(reinterpret_cast<uv_handle_t*>(&poll_->handle));
  }

  Poll* poll_ = nullptr;
};

void InitWatch(Napi::Env env, Napi::Object exports) { Watch::Register(env, exports); }
