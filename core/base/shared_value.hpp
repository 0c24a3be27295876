// A value that copies share until one of them is changed (copy on write). For large values that are handed from one
// place to the next and seldom changed there.
#pragma once

#include <memory>
#include <utility>

namespace troupe {

template <class T> class shared_value {
public:
  shared_value() : value_(std::make_shared<const T>()) {}
  shared_value(T v) : value_(std::make_shared<const T>(std::move(v))) {}
  // Part of something larger: `owner` keeps it alive.
  shared_value(const std::shared_ptr<const void>& owner, const T& part) : value_(owner, &part) {}

  const T& operator*() const noexcept { return *value_; }
  const T* operator->() const noexcept { return value_.get(); }

  // Calls `f` with a value that nobody else has: a copy, unless that was made before and not shared since.
  template <class F> void change(F&& f) {
    constexpr long both = 2; // own_ and value_ of this object
    if (own_.use_count() != both) value_ = own_ = std::make_shared<T>(*value_);
    f(*own_);
  }

private:
  std::shared_ptr<const T> value_;
  std::shared_ptr<T> own_; // the same, where it was changed
};

} // namespace troupe
