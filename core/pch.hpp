// Precompiled for core/ and storage/: what nearly every file of them includes.
#pragma once

#include <boost/describe.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/mp11.hpp>
#include <boost/system/result.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
