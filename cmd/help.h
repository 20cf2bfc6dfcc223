// The text of --help: CLI11's, but the root lists every command in full ("model check"), so that
// one page shows the whole product.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace navtalk::cmd {

std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace navtalk::cmd
