// The compiled half of Asio and Beast: BOOST_ASIO_SEPARATE_COMPILATION leaves it out everywhere
// else.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
