// An optional whose value lives on the heap: the size of a pointer where there is none. For large members that most of
// their owners do without. Copies copy the value.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace troupe {

template <class T> class rare {
public:
  rare() = default;
  rare(T v) : value_(std::make_unique<T>(std::move(v))) {}
  rare(std::optional<T> v) {
    if (v) emplace(*std::move(v));
  }
  rare(const rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  rare(rare&&) noexcept = default;
  rare& operator=(rare other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~rare() = default;

  template <class... Ts> T& emplace(Ts&&... args) {
    value_ = std::make_unique<T>(std::forward<Ts>(args)...);
    return *value_;
  }
  void reset() noexcept { value_.reset(); }

  bool has_value() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return value_.get(); }
  const T* operator->() const noexcept { return value_.get(); }

private:
  std::unique_ptr<T> value_;
};

} // namespace troupe
