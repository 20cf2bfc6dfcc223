// What the sources in gpu/nets need of libtorch, precompiled. ATen headers only: torch/torch.h
// takes more than twice as long.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
