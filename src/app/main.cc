#include "app/commands/commands.h"

int main(int argc, char** argv) { return penstock::app::run_penstock(argc, argv); }
