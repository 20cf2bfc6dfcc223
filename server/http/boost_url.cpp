// The compiled half of Boost.URL, which every other file leaves out.
#include <boost/url/src.hpp>
