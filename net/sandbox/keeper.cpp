#include "net/sandbox/keeper.hpp"

#include "core/base/embedded.hpp"
#include "core/base/text.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::net {

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = other.release();
  return *this;
}
descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}
int descriptor::release() noexcept { return std::exchange(fd_, -1); }

namespace {

using command = std::vector<std::string>;

// Where the keeper finds its program and its socket (configs/sandbox/cells.py).
constexpr int program_fd = 3;
constexpr int control_fd = 4;

error cannot(const std::string& what, int why) {
  return fail(errc::unavailable, "Tools cannot run: " + what + ": " + std::strerror(why));
}

// A descriptor out of the way of those that the child is given.
int high(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 16); }

result<descriptor> program_text() {
  descriptor memory(::memfd_create("sandbox", MFD_CLOEXEC));
  if (memory.get() < 0) return cannot("their program", errno);
  for (auto part : {"sandbox/schema.py", "sandbox/call.py", "sandbox/cells.py"})
    for (auto text = embedded(part); !text.empty();) {
      auto n = ::write(memory.get(), text.data(), text.size());
      if (n < 0) return cannot("their program", errno);
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  ::lseek(memory.get(), 0, SEEK_SET);
  return descriptor(high(memory.get()));
}

std::vector<std::string> environment_without(const std::vector<std::string>& hidden) {
  std::vector<std::string> out;
  for (char** v = environ; *v; ++v) {
    std::string entry(*v);
    auto name = entry.substr(0, entry.find('='));
    if (std::find(hidden.begin(), hidden.end(), name) == hidden.end()) out.push_back(std::move(entry));
  }
  for (auto extra : {"PYTHONWARNINGS=ignore", "NO_COLOR=1", "TERM=dumb", "PYTHONUNBUFFERED=1"})
    out.emplace_back(extra);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

// Starts a program in a session of its own, with these descriptors and no others, and with signals as by default.
result<int> spawn(command line, std::vector<std::string> variables, int program, int control) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, 2, 1);
  if (program >= 0) posix_spawn_file_actions_adddup2(&files, program, program_fd);
  if (control >= 0) posix_spawn_file_actions_adddup2(&files, control, control_fd);
  posix_spawn_file_actions_addclosefrom_np(&files, control >= 0 ? control_fd + 1 : 3);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  auto arguments = pointers(line), environment = pointers(variables);
  pid_t pid = 0;
  int failed = ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed) return cannot("'" + line[0] + "'", failed);
  return pid;
}

bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  auto* path = std::getenv("PATH");
  auto folders = text::split(path ? path : "/usr/bin:/bin", ':');
  return std::any_of(folders.begin(), folders.end(), [&](auto folder) {
    return ::access((std::string(folder) + "/" + name).c_str(), X_OK) == 0;
  });
}

// Everything can be read but the hidden folder, only /tmp can be written, no other process is seen. The network is
// there: tools are made to call other services.
command bubblewrap(const keeper_options& o) {
  command out{"bwrap",
              "--die-with-parent",
              "--unshare-pid",
              "--unshare-ipc",
              "--unshare-uts",
              "--cap-drop",
              "ALL",
              "--ro-bind",
              "/",
              "/",
              "--dev",
              "/dev",
              "--proc",
              "/proc",
              "--tmpfs",
              "/tmp",
              "--chdir",
              "/tmp"};
  if (!o.hidden.empty()) out.insert(out.end(), {"--tmpfs", std::filesystem::absolute(o.hidden).string()});
  return out;
}

bool works(command line) {
  line.emplace_back("true");
  auto pid = spawn(std::move(line), environment_without({}), -1, -1);
  int status = 1;
  return pid && ::waitpid(*pid, &status, 0) == *pid && status == 0;
}

// What goes before the Python command.
result<command> wrapping(const keeper_options& o) {
  if (o.isolated == isolation::none) return command{};
  auto wrap = bubblewrap(o);
  if (is_program("bwrap") && works(wrap)) return wrap;
  if (o.isolated == isolation::bubblewrap)
    return fail(errc::unavailable, "Tools cannot run: bubblewrap is asked for, and does not work here");
  spdlog::warn(
      "tools run without bubblewrap, which is not here or not permitted: they can do what the server's "
      "user can do");
  return command{};
}

} // namespace

result<std::unique_ptr<keeper>> keeper::start(const keeper_options& o) {
  if (!is_program(o.python))
    return cannot("Python 3 is needed, and '" + o.python + "' was not found", ENOENT);
  auto line = wrapping(o);
  if (!line) return line.error();
  auto program = program_text();
  if (!program) return program.error();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return cannot("a socket", errno);
  descriptor ours(ends[0]), raw(ends[1]), theirs(high(raw.get()));
  line->insert(line->end(), {o.python, "-c", "exec(compile(open(3).read(), 'sandbox', 'exec'))",
                             std::to_string(o.spares)});
  auto pid = spawn(std::move(*line), environment_without(o.hidden_variables), program->get(), theirs.get());
  if (!pid) return pid.error();
  return std::make_unique<keeper>(*pid, std::move(ours));
}

keeper::~keeper() {
  control_ = descriptor();
  ::waitpid(pid_, nullptr, WNOHANG); // mostly it is not gone yet; then its next parent takes it
}

result<descriptor> keeper::connect() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return cannot("a socket", errno);
  descriptor ours(ends[0]), theirs(ends[1]);
  char byte = 'c';
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  int passed = theirs.get();
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  if (::sendmsg(control_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return cannot("their keeper", errno);
  return ours;
}

} // namespace troupe::net
