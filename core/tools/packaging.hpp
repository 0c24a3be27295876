// Tool results as they are stored and as clients see them (reference: agent-loop §2.4, §3.4).
#pragma once

#include "core/schema/message.hpp"
#include "core/tools/core_tools.hpp"

namespace troupe::tools {

// Behind a text that is too long; the numbers follow.
constexpr std::string_view cut_note =
    "... [NOTE: function output was truncated since it exceeded the character limit";

// {"status":..,"message":..,"time":..} with two spaces of indent. Values longer than `limit` characters are cut, with
// a note that says so; search results are never cut.
std::string pack_result(const tool_result& r, std::string_view tool_name, std::int64_t limit, timestamp now,
                        const std::string& zone);

// The stored return of one call.
tool_return make_return(const tool_call& call, const tool_result& r, std::int64_t limit, timestamp now,
                        const std::string& zone);

// The return of a call that somebody refused.
tool_return denied_return(const tool_call& call, const std::optional<std::string>& reason, timestamp now,
                          const std::string& zone);

// Adds a return to a message of tools: to the list, and packed to its content.
void add_return(message& m, tool_return r);

// What the API shows of a packed result: the message (an object as Python prints it) and the status. Nothing where
// the text is no packed result.
struct unpacked {
  std::string message;
  return_status status = return_status::success;
};
std::optional<unpacked> unpack_result(std::string_view packed);

} // namespace troupe::tools
