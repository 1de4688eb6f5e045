#include "store/limits/policy_change.h"

#include <string>

#include "wire/described.h"

namespace penstock::store {

Result<core::Policy> next_version(PolicyChange change, const core::PolicyDraft& draft,
                                  const std::optional<core::Policy>& newest, std::int64_t fresh_id,
                                  Instant now) {
  const bool in_force = newest && !newest->deleted;
  if (change == PolicyChange::create && in_force) {
    return fail(ErrorKind::conflict, "there is a policy with the key '" + draft.key + "' already");
  }
  if (change != PolicyChange::create && !in_force) {
    return fail(ErrorKind::not_found, "there is no policy with the key '" + draft.key + "'");
  }
  const bool removes = change == PolicyChange::remove;
  return core::Policy{.id = newest ? newest->id : fresh_id,
                      .version = newest ? newest->version + 1 : 1,
                      .draft = removes ? newest->draft : draft,
                      .changed = now,
                      .deleted = removes};
}

Result<core::Policy> stored_policy(core::Policy version, std::string_view document) {
  version.draft = PENSTOCK_TRY(wire::from_document<core::PolicyDraft>(document));
  return version;
}

}  // namespace penstock::store
