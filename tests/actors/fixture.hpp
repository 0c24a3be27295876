// The tests of the actors use the library that is made for tests of agents.
#pragma once

#include "testing/house.hpp"
