// The stream of a reply, whatever its protocol: pieces go to the caller as they come, the reply is put together
// meanwhile.
#pragma once

#include "core/protocol/model_request.hpp"

namespace troupe {

class reply_decoder {
public:
  virtual ~reply_decoder() = default;

  // The data of one server-sent event. Appends the pieces that it holds. An error ends the stream.
  virtual result<void> feed(std::string_view data, std::vector<project::delta>& out) = 0;
  // After the stream has ended: everything that was sent, or an error where it broke off.
  virtual result<model_reply> finish() = 0;
};

} // namespace troupe
