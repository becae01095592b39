# macOS on ARM, by the Clang and the headers of the Python package ziglang; nothing here runs what it makes.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_CXX_COMPILER python3 -m ziglang c++ -target aarch64-macos)
set(CMAKE_CXX_ARCHIVE_CREATE "python3 -m ziglang ar qc <TARGET> <OBJECTS>")  # GNU's archives are not those of macOS
set(CMAKE_CXX_ARCHIVE_FINISH "python3 -m ziglang ranlib <TARGET>")
