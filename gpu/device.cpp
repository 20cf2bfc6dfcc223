#include "gpu/device.h"
