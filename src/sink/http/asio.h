// Asio as the HTTP sinks use it: one thread runs the io_context, executors are concrete. The only
// header that includes it, so that few files pay for it.
#pragma once

// As front/http/server/asio.h does, and for its reasons: both must see one and the same Asio.
#ifndef BOOST_ASIO_DISABLE_FENCED_BLOCK
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <chrono>

namespace penstock::sink {

// The default executor is type-erased: a virtual call and a reference count per event.
using IoExecutor = boost::asio::io_context::executor_type;
using Tcp = boost::asio::ip::tcp;
using TcpSocket = boost::asio::basic_stream_socket<Tcp, IoExecutor>;
using TlsStream = boost::asio::ssl::stream<TcpSocket&>;
using TlsContext = boost::asio::ssl::context;
using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, IoExecutor>;
using IoError = boost::system::error_code;

}  // namespace penstock::sink
