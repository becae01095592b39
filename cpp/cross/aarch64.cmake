# Linux on 64-bit ARM, by Debian's g++-aarch64-linux-gnu; qemu-user-static runs what it makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
