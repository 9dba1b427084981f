{
  "targets": [
    {
      "target_name": "nsexec",
      "sources": [
        "native/addon/addon.cc",
        "native/addon/errors.cc",
        "native/addon/file.cc",
        "native/addon/loop.cc",
        "native/addon/mount.cc",
        "native/addon/pidfd.cc",
        "native/addon/socket.cc",
        "native/addon/spawn.cc",
        "native/addon/watch.cc"
      ],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_CPP_EXCEPTIONS", "_GNU_SOURCE"],
      "cflags!": ["-fno-exceptions"],
      "cflags_cc!": ["-fno-exceptions"],
      "cflags_cc": ["-std=c++17", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type"]
    }
  ]
}
