// Asio as this server uses it: one thread per io_context, concrete executors. The only header that
// includes it, so that few files pay for it.
#pragma once

// Work reaches an io_context only through its mutex, so the fences around handlers add nothing; and
// GCC's thread sanitizer refuses to compile them.
#ifndef BOOST_ASIO_DISABLE_FENCED_BLOCK
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <chrono>

namespace penstock::front {

// The default executor is type-erased: a virtual call and a reference count per event.
using IoExecutor = boost::asio::io_context::executor_type;
using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, IoExecutor>;
using TcpAcceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, IoExecutor>;
using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, IoExecutor>;
using IoError = boost::system::error_code;

}  // namespace penstock::front
