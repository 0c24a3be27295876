// Precompiled for actors/ and net/: what core/ precompiles, and CAF.
#pragma once

#include "core/pch.hpp"

#include <caf/all.hpp>
#include <spdlog/spdlog.h>
