#include <ounce/version.h>

#include <cstdio>
#include <cstring>

int main() {
  std::printf("ounce %s\n", ounce::version());
  return std::strlen(ounce::version()) > 0 ? 0 : 1;
}
