// The sandbox of a test: jobs lie on a desk until the test answers them; abandoned ones are answered as lost.
#pragma once

#include "actors/actors.hpp"
#include "core/json/value.hpp"

#include <algorithm>

namespace troupe::test {

struct sandbox_desk {
  struct job {
    actors::sandbox_job_ptr what;
    caf::typed_response_promise<std::string> promise;
  };
  std::vector<job> jobs;

  // Names of the tools that run, in the order in which they began, each with its argument `word`.
  std::string running() const {
    std::string out;
    for (auto& j : jobs) {
      auto request = *json::try_parse(j.what->body);
      auto word = json::string_or(*json::find(request, "arguments"), "word");
      out += (out.empty() ? "" : " ") + std::string(json::string_or(request, "name")) + "(" +
             std::string(word) + ")";
    }
    return out;
  }
};

class scripted_sandbox final : public caf::event_based_actor {
public:
  scripted_sandbox(caf::actor_config& cfg, std::shared_ptr<sandbox_desk> desk)
      : event_based_actor(cfg), desk_(std::move(desk)) {}

  caf::behavior make_behavior() override {
    return {
        [this](const actors::sandbox_job_ptr& job) -> caf::typed_response_promise<std::string> {
          auto promise = make_response_promise<std::string>();
          desk_->jobs.push_back({job, promise});
          return promise;
        },
        [this](actors::abandon_atom, const uuid& id) {
          take(id).deliver(actors::to_caf(fail(errc::unavailable, "the process that ran it was lost")));
        },
        // From the test: a promise may be used in here only.
        [this](const uuid& id, const std::string& answer) { take(id).deliver(answer); },
    };
  }
  void on_exit() override { desk_->jobs.clear(); } // promises refer to this actor

private:
  caf::typed_response_promise<std::string> take(const uuid& id) {
    auto it = std::find_if(desk_->jobs.begin(), desk_->jobs.end(), [&](auto& j) { return j.what->id == id; });
    auto promise = it->promise;
    desk_->jobs.erase(it);
    return promise;
  }
  std::shared_ptr<sandbox_desk> desk_;
};

} // namespace troupe::test
