#include "app/commands/commands.h"

#include "app/extensions.h"

int main(int argc, char** argv) {
  return penstock::app::run_penstock(argc, argv, penstock::app::extensions());
}
