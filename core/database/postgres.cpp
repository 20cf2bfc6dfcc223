#include "core/database/postgres.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <pqxx/pqxx>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

// Where the URL leads, without names, passwords and options.
std::string server_of(const std::string& url) {
  std::string text = url.substr(0, url.find('?'));
  const std::size_t start = text.find("://");
  const std::size_t at = text.rfind('@');
  if (at != std::string::npos) return text.substr(at + 1);
  return start == std::string::npos ? text : text.substr(start + 3);
}

// A peer that vanished without a word is noticed in seconds instead of hours.
std::string with_timeouts(std::string url) {
  constexpr std::array<std::pair<const char*, const char*>, 5> k_defaults = {
      {{"connect_timeout", "5"},
       {"keepalives_idle", "10"},
       {"keepalives_interval", "5"},
       {"keepalives_count", "3"},
       {"tcp_user_timeout", "15000"}}};
  for (const auto& [name, value] : k_defaults) {
    if (url.find(std::string(name) + "=") != std::string::npos) continue;
    url += fmt::format("{}{}={}", url.find('?') == std::string::npos ? "?" : "&", name, value);
  }
  return url;
}

std::string as_text(const DbValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  const std::string_view text = std::get<std::string_view>(value);
  const bool storable = is_utf8(text) && text.find('\0') == std::string_view::npos;
  return storable ? std::string(text) : printable(text);
}

class PostgresRows : public DbRows {
 public:
  explicit PostgresRows(const pqxx::result& result) : result_(result) {}

  bool next() override { return ++row_ < static_cast<long>(result_.size()); }
  bool null(int column) override { return field(column).is_null(); }
  std::int64_t integer(int column) override { return number<std::int64_t>(column); }
  double real(int column) override { return number<double>(column); }
  std::string_view text(int column) override {
    const pqxx::field value = field(column);
    return {value.c_str(), value.size()};  // of the result's memory, not the field's
  }

 private:
  pqxx::field field(int column) const {
    return result_[static_cast<pqxx::result::size_type>(row_)]
                  [static_cast<pqxx::row::size_type>(column)];
  }
  template <class T>
  T number(int column) {
    return parse_number<T>(text(column)).value_or(0);
  }

  pqxx::result result_;
  long row_ = -1;
};

}  // namespace

struct PostgresConnection::State {
  State(std::string server, const std::string& url)
      : where(std::move(server)), connection(with_timeouts(url)) {}

  std::string where;
  pqxx::connection connection;
  std::map<std::string, std::string, std::less<>> prepared{};  // name by SQL
  std::string kept{};  // statements of run() that wait for the next message
  Trouble trouble = Trouble::none;

  // Prepares the statement where it is new.
  const std::string& name_of(std::string_view sql);
  // As a statement of a script.
  std::string execution_of(std::string_view sql, DbValues values);

  // Calls the library; its exceptions become ours.
  template <class F>
  auto call(F&& work) {
    trouble = Trouble::other;
    try {
      pqxx::nontransaction transaction(connection);
      auto result = work(transaction);
      trouble = Trouble::none;
      return result;
    } catch (const pqxx::broken_connection& error) {
      trouble = Trouble::lost;
      throw failure("the connection was lost", error);
    } catch (const pqxx::sql_error& error) {
      throw of_statement(error);
    } catch (const std::exception& error) {
      if (!connection.is_open()) trouble = Trouble::lost;
      throw failure("failed", error);
    }
  }

  Error failure(const char* what, const std::exception& error) const {
    return {Code::failed,
            fmt::format("PostgreSQL at {}: {}: {}", where, what, printable_line(error.what()))};
  }
  Error of_statement(const pqxx::sql_error& error) {
    const std::string& code = error.sqlstate();
    if (!connection.is_open() || code.starts_with("57P")) trouble = Trouble::lost;
    if (code == "40001" || code == "40P01") trouble = Trouble::conflict;
    if (code == "55P03") {
      return failure("stays locked by another process; look at pg_stat_activity for who holds it",
                     error);
    }
    return failure("refused a statement", error);
  }
};

PostgresConnection::PostgresConnection(const std::string& url) {
  const std::string where = server_of(url);
  try {
    state_ = std::make_unique<State>(where, url);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    // A silent reconnect would run the rest of a transaction outside it.
    state_->connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
  } catch (const std::exception& error) {
    throw Error(Code::failed, fmt::format("cannot connect to PostgreSQL at {}: {}", where,
                                          printable_line(error.what())));
  }
  constexpr int k_oldest = 130000;
  if (state_->connection.server_version() < k_oldest) {
    throw Error(Code::invalid, fmt::format("PostgreSQL at {} is older than 13: update it", where));
  }
}

PostgresConnection::~PostgresConnection() = default;

const std::string& PostgresConnection::State::name_of(std::string_view sql) {
  auto found = prepared.find(sql);
  if (found == prepared.end()) {
    const std::string name = fmt::format("s{}", prepared.size());
    call([&](pqxx::nontransaction&) {
      connection.prepare(name, std::string(sql));
      connection.prepare_now(name);
      return 0;
    });
    found = prepared.emplace(std::string(sql), name).first;
  }
  return found->second;
}

std::string PostgresConnection::State::execution_of(std::string_view sql, DbValues values) {
  std::string call = "EXECUTE " + name_of(sql);
  const char* before = "(";
  for (const DbValue& value : values) {
    const bool null = std::holds_alternative<std::monostate>(value);
    call += before + (null ? "NULL" : connection.quote(as_text(value)));
    before = ", ";
  }
  return call + (values.size() > 0 ? ");" : ";");
}

std::unique_ptr<DbRows> PostgresConnection::query(std::string_view sql, DbValues values) {
  const std::string& name = state_->name_of(sql);
  if (!state_->kept.empty()) return batch(state_->execution_of(sql, values));
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  texts.reserve(values.size());
  for (const DbValue& value : values) {
    const bool null = std::holds_alternative<std::monostate>(value);
    texts.push_back(null ? std::string() : as_text(value));
    pointers.push_back(null ? nullptr : texts.back().c_str());
  }
  return std::make_unique<PostgresRows>(state_->call([&](pqxx::nontransaction& transaction) {
    return transaction.exec_prepared(name, pqxx::prepare::make_dynamic_params(pointers));
  }));
}

void PostgresConnection::run(std::string_view sql, DbValues values) {
  state_->kept += state_->execution_of(sql, values);
}

void PostgresConnection::script(const std::string& sql) { batch(sql); }

std::unique_ptr<DbRows> PostgresConnection::batch(const std::string& sql) {
  const std::string all = std::exchange(state_->kept, {}) + sql;
  return std::make_unique<PostgresRows>(
      state_->call([&](pqxx::nontransaction& transaction) { return transaction.exec(all); }));
}

PostgresConnection::Trouble PostgresConnection::trouble() const { return state_->trouble; }

int PostgresConnection::socket() const { return state_->connection.sock(); }

int PostgresConnection::take_notifications() {
  try {
    const int count = state_->connection.get_notifs();
    if (state_->connection.is_open()) return count;
    throw pqxx::broken_connection();
  } catch (const std::exception& error) {
    state_->trouble = Trouble::lost;
    throw state_->failure("the connection was lost", error);
  }
}

}  // namespace navtalk
