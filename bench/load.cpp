// A load generator: sends the requests of a file over N connections, each one request at a time, and prints figures
// as JSON. Plain sockets and epoll, so that it takes as little as possible of the cores it shares with the server.
//   load PORT CONNECTIONS COUNT FILE [GROUPS [MARK]]
// FILE has a line "METHOD TARGET BODY" a request; they are used in turn until COUNT are answered. GROUPS: the n-th
// request counts in group n mod GROUPS. MARK: a text of the answer; when it first arrives is measured as well.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void stop(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct connection {
  int fd = -1;
  std::size_t request = 0; // its number
  double sent_us = 0;
  double marked_us = 0; // 0: the mark has not come
  std::size_t searched = 0;
  std::string in;
};

struct series {
  std::vector<double> us;
  void print(const char* name) {
    std::sort(us.begin(), us.end());
    auto at = [&](double q) {
      return us.empty() ? 0.0 : us[static_cast<std::size_t>(q * double(us.size() - 1))];
    };
    std::printf("{\"name\":\"%s\",\"n\":%zu,\"min\":%.1f,\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f}", name,
                us.size(), at(0), at(0.5), at(0.99), at(1));
  }
};

class generator {
public:
  generator(std::vector<std::string> requests, std::size_t count, std::size_t groups, std::string mark)
      : requests_(std::move(requests)), count_(count), mark_(std::move(mark)), whole_(groups) {}

  void run(std::uint16_t port, std::size_t connections) {
    epoll_ = epoll_create1(0);
    connections_.resize(std::min(connections, count_));
    for (auto& c : connections_) open(c, port);
    auto began = now_us();
    for (auto& c : connections_) send_next(c);
    std::vector<epoll_event> events(connections_.size());
    while (answered_ < count_) {
      int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 120'000);
      if (n <= 0) stop("no answer for two minutes");
      for (int i = 0; i < n; ++i)
        receive(*static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr));
    }
    seconds_ = (now_us() - began) / 1e6;
  }

  void print() {
    std::printf("{\"answered\":%zu,\"failed\":%zu,\"seconds\":%.6f,\"rate\":%.1f,\"whole\":[", answered_,
                failed_, seconds_, double(answered_) / seconds_);
    for (std::size_t i = 0; i < whole_.size(); ++i) {
      if (i) std::printf(",");
      whole_[i].print("whole");
    }
    std::printf("],\"mark\":");
    marks_.print("mark");
    std::printf("}\n");
    if (failed_) std::fprintf(stderr, "%s\n", first_failure_.c_str());
  }

private:
  void open(connection& c, std::uint16_t port) {
    c.fd = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(c.fd, reinterpret_cast<sockaddr*>(&to), sizeof to)) stop("connect");
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.ptr = &c;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, c.fd, &e);
  }

  void send_next(connection& c) {
    if (sent_ == count_) return;
    auto& text = requests_[sent_ % requests_.size()];
    c.request = sent_++;
    c.in.clear();
    c.searched = 0;
    c.marked_us = 0;
    c.sent_us = now_us();
    if (send(c.fd, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) stop("send");
  }

  void receive(connection& c) {
    char bytes[65536];
    auto n = recv(c.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) stop("the server closed a connection");
    c.in.append(bytes, static_cast<std::size_t>(n));
    if (!mark_.empty() && c.marked_us == 0) look_for_mark(c);
    if (!is_whole(c.in)) return;
    auto us = now_us();
    ++answered_;
    if (c.in.compare(8, 2, " 2") != 0) {
      if (!failed_++) first_failure_ = c.in;
    } else {
      whole_[c.request % whole_.size()].us.push_back(us - c.sent_us);
      if (c.marked_us > 0) marks_.us.push_back(c.marked_us - c.sent_us);
    }
    send_next(c);
  }

  void look_for_mark(connection& c) {
    if (c.in.find(mark_, c.searched) != std::string::npos) c.marked_us = now_us();
    c.searched = c.in.size() - std::min(c.in.size(), mark_.size());
  }

  static bool is_whole(const std::string& in) {
    auto head = in.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    auto length = in.find("ontent-", 0);
    for (; length < head; length = in.find("ontent-", length + 1))
      if (!strncasecmp(in.c_str() + length, "ontent-length: ", 15))
        return in.size() >= head + 4 + std::strtoull(in.c_str() + length + 15, nullptr, 10);
    return in.ends_with("\r\n0\r\n\r\n");
  }

  std::vector<std::string> requests_;
  std::size_t count_, sent_ = 0, answered_ = 0, failed_ = 0;
  std::string mark_, first_failure_;
  std::vector<series> whole_;
  series marks_;
  std::vector<connection> connections_;
  double seconds_ = 0;
  int epoll_ = -1;
};

std::vector<std::string> read_requests(const char* file) {
  std::vector<std::string> out;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    auto first = line.find(' '), second = line.find(' ', first + 1);
    auto target = line.substr(first + 1, second - first - 1);
    auto body = second == std::string::npos ? "" : line.substr(second + 1);
    out.push_back(line.substr(0, first) + " " + target +
                  " HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n" +
                  "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  return out;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "load PORT CONNECTIONS COUNT FILE [GROUPS [MARK]]\n");
    return 2;
  }
  auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  generator g(read_requests(argv[4]), number(3), argc > 5 ? number(5) : 1, argc > 6 ? argv[6] : "");
  g.run(static_cast<std::uint16_t>(number(1)), number(2));
  g.print();
  return 0;
}
