#!/bin/sh
# Runs the C or C++ compiler for a build of one model: what the build makes of other kernels than the model's is empty.
#
#   only_kernels.sh LIST COMPILER ARGUMENT...
#
# LIST names a file with the sources of the model, one file name a line, such as conv2d_portable.cc. An image that needs
# another kernel is not linked.
list=$1
shift
source= object= dependencies= machine= before=
for argument; do
  case $argument in
    */runtime/kernels/*_portable.cc | */runtime/kernels/*_tuned.cc | */runtime/kernels/*_cmsis_nn.cc | \
      runtime/kernels/*_portable.cc | runtime/kernels/*_tuned.cc | runtime/kernels/*_cmsis_nn.cc)
      source=$argument
      language=c++
      ;;
    */Source/*/arm_*.c)
      source=$argument
      language=c
      ;;
    -m*) machine=$machine$argument ;;
  esac
  case $before in
    -o) object=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  before=$argument
done
if [ -z "$source" ] || grep -qxF "${source##*/}" "$list"; then
  exec "$@"
fi
# In place of this source, one without text. What it makes for the same instructions is always the same object: a copy
# of the first takes a tenth of the time of starting the compiler, and there are hundreds.
empty=$list$machine.$language.o
if ! cp "$empty" "$object" 2>/dev/null; then
  count=$#
  while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    if [ "$argument" = "$source" ]; then
      set -- "$@" -x "$language" /dev/null
    else
      set -- "$@" "$argument"
    fi
  done
  "$@" || exit
  # Others may do this at the same time. Where the folder cannot be written, there is no copy.
  cp "$object" "$empty.$$" 2>/dev/null && mv "$empty.$$" "$empty"
fi
# Bazel refuses files that it does not know.
if [ -n "$dependencies" ]; then
  echo "$object: $source" >"$dependencies"
fi
