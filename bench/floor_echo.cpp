// A floor for everything that goes over HTTP: a bare server that gives back what it gets.
#include "bench/http_server.hpp"

int main() {
  return troupe::bench::serve([](std::string_view, std::string_view body) {
    troupe::bench::answer a;
    a.body = body;
    return a;
  });
}
