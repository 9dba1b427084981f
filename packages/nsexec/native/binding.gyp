{
  "targets": [
    {
      "target_name": "nsexec",
      "sources": [
        "addon/addon.cc",
        "addon/errors.cc",
        "addon/file.cc",
        "addon/loop.cc",
        "addon/mount.cc",
        "addon/namespace.cc",
        "addon/pidfd.cc",
        "addon/socket.cc",
        "addon/spawn.cc",
        "addon/watch.cc"
      ],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_CPP_EXCEPTIONS", "_GNU_SOURCE"],
      "cflags!": ["-fno-exceptions"],
      "cflags_cc!": ["-fno-exceptions"],
      "cflags_cc": ["-std=c++17", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type"]
    }
  ]
}
