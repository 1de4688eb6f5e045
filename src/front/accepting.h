// How every front end accepts connections.
#pragma once

namespace penstock::front {

// As many as the kernel lets wait by default (somaxconn), so that a burst of clients is not turned
// away.
inline constexpr int kBacklog = 4'096;
// Connections accepted before the others on the loop get their turn.
inline constexpr int kAcceptsPerTurn = 64;

}  // namespace penstock::front
