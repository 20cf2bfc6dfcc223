#include "avatars/bundle.h"
