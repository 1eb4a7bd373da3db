// Where grammars are compiled: on the heap, or in memory that the caller gave. What the compiler holds is made of the containers below.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace linnet::convert {

// Blocks of the caller's memory, by sizes: what is given back is taken again by who asks for the same size. Whoever asks for more than
// there is gets std::bad_alloc.
class GrammarMemory {
 public:
  GrammarMemory(void* mem, size_t bytes, uint32_t max_states) : base_(static_cast<uint8_t*>(mem)), bytes_(bytes), max_states_(max_states) {}
  GrammarMemory(const GrammarMemory&) = delete;
  size_t bytes() const { return bytes_; }
  uint32_t max_states() const { return max_states_; }  // of a grammar that is compiled here
  void clear();                                        // as if it were new
  void* take(size_t bytes);
  void give_back(void* block, size_t bytes);
  // What is compiled right now, for the reason if the memory runs out; "" = it has no place.
  const char* place() const { return place_; }
  void at(std::string_view place) { place_[place.copy(place_, sizeof place_ - 1)] = 0; }
  // What this thread compiles in; nullptr: the heap.
  static GrammarMemory*& here();

 private:
  struct Free {
    Free* next;
  };
  static constexpr size_t kAlign = 16, kSteps = 4;  // sizes between a power of two and the next one
  static uint32_t size_class(size_t bytes, size_t* rounded);
  uint8_t* const base_;
  const size_t bytes_;
  const uint32_t max_states_;
  size_t used_ = 0;
  char place_[128] = {};
  Free* free_[kSteps * 8 * sizeof(size_t)] = {};
};
// As long as it lives this thread compiles there.
class CompileIn {
 public:
  explicit CompileIn(GrammarMemory* memory) : before_(GrammarMemory::here()) {
    if (memory) memory->clear();
    GrammarMemory::here() = memory;
  }
  ~CompileIn() { GrammarMemory::here() = before_; }
  CompileIn(const CompileIn&) = delete;

 private:
  GrammarMemory* const before_;
};

template <class T>
struct GrammarAllocator {
  using value_type = T;
  GrammarAllocator() = default;
  template <class U>
  GrammarAllocator(const GrammarAllocator<U>&) {}
  T* allocate(size_t n) {
    static_assert(alignof(T) <= 16);
    if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    GrammarMemory* const memory = GrammarMemory::here();
    return static_cast<T*>(memory ? memory->take(n * sizeof(T)) : ::operator new(n * sizeof(T)));
  }
  void deallocate(T* p, size_t n) {
    if (GrammarMemory* const memory = GrammarMemory::here())
      memory->give_back(p, n * sizeof(T));
    else
      ::operator delete(p);
  }
  bool operator==(const GrammarAllocator&) const = default;
};
using String = std::basic_string<char, std::char_traits<char>, GrammarAllocator<char>>;
template <class T>
using Vector = std::vector<T, GrammarAllocator<T>>;
template <class T>
using Deque = std::deque<T, GrammarAllocator<T>>;
template <class T>
using Set = std::set<T, std::less<T>, GrammarAllocator<T>>;
template <class K, class V, class Less = std::less<K>>
using Map = std::map<K, V, Less, GrammarAllocator<std::pair<const K, V>>>;

template <class N>
String decimal(N n) {
  char digits[24];
  return String(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

// What is called while the caller waits; it holds nothing, and lives no longer than what it was made of.
template <class>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  FunctionRef(std::nullptr_t) {}
  template <class Fn, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<Fn>, FunctionRef>>>
  FunctionRef(const Fn& fn)
      : fn_(&fn), call_([](const void* to, Args... args) -> R { return (*static_cast<const Fn*>(to))(std::forward<Args>(args)...); }) {}
  explicit operator bool() const { return fn_ != nullptr; }
  R operator()(Args... args) const { return call_(fn_, std::forward<Args>(args)...); }

 private:
  const void* fn_ = nullptr;
  R (*call_)(const void* to, Args... args) = nullptr;
};

}  // namespace linnet::convert
