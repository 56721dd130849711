// A value that few objects have, in objects of which there are many: it costs a pointer where it
// is. Where there is none it reads as a default one. Copies are deep.
#pragma once

#include <memory>
#include <utility>

namespace muster {

template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(const Rare& other) : value_(copy_of(other)) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) {
    if (value_ != other.value_) value_ = copy_of(other);
    return *this;
  }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  const T& operator*() const { return value_ != nullptr ? *value_ : kNone; }
  const T* operator->() const { return &**this; }
  // A default one costs nothing.
  void set(T value) {
    if (value == kNone) {
      value_.reset();
    } else {
      value_ = std::make_unique<T>(std::move(value));
    }
  }
  friend bool operator==(const Rare& a, const Rare& b) { return *a == *b; }

 private:
  static std::unique_ptr<T> copy_of(const Rare& other) {
    return other.value_ != nullptr ? std::make_unique<T>(*other.value_) : nullptr;
  }
  inline static const T kNone{};

  std::unique_ptr<T> value_;
};

}  // namespace muster
