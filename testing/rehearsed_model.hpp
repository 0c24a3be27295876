// A model that answers from a rehearsal script (docs/rehearsal.md), in virtual time: what the script lets it wait for
// passes when the test lets time pass.
#pragma once

#include "actors/actors.hpp"
#include "core/rehearsal/script.hpp"

#include <map>

namespace troupe::test {

class rehearsed_model {
public:
  // Throws std::invalid_argument for a script that cannot be read.
  explicit rehearsed_model(std::string_view script);
  // The reply to a call, once its time has come; nothing: not yet, or never.
  std::optional<result<model_reply>> reply_to(const uuid& step, const std::string& body, std::int64_t now_ns);

private:
  struct answer {
    rehearsal::performance what;
    std::optional<std::int64_t> due_ns; // nothing: it hangs
  };
  std::unique_ptr<rehearsal::script> script_;
  std::map<uuid, answer> answers_; // by step
};

} // namespace troupe::test
