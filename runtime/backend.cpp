// Which backend computes, and what is said of backends by name.
#include "backend.h"

#include <cstring>

#include "format.h"
#if LINNET_HAVE_CUDA
#include "../kernels_cuda/driver.h"
#endif

namespace linnet {
namespace {

constexpr uint64_t kLeastBlock = 1 << 16;  // of device memory

}  // namespace

Status backend_choose(const linnet_profile& profile, const Backend** out, Error* err) {
  *out = &cpu_backend;
  if (profile.cuda == LINNET_CUDA_DEFAULT || profile.cuda == LINNET_CUDA_OFF) return LINNET_OK;
#if LINNET_HAVE_CUDA
  const Status status = cuda_backend.probe(profile.cuda == LINNET_CUDA_AUTO ? nullptr : err);
  if (status == LINNET_OK) *out = &cuda_backend;
  return profile.cuda == LINNET_CUDA_AUTO ? LINNET_OK : status;
#else
  return profile.cuda == LINNET_CUDA_AUTO ? LINNET_OK
                                          : fail(err, LINNET_UNSUPPORTED, "profile: cuda is on: this build has no CUDA kernels");
#endif
}

const Backend* backend_otherwise(const linnet_profile& profile, const Backend* chosen) {
  return profile.cuda == LINNET_CUDA_AUTO && chosen != &cpu_backend ? &cpu_backend : nullptr;
}

Status backend_profile(const linnet_profile& p, Error* err) {
  const struct {
    const char* name;
    uint32_t value, max;
  } fields[] = {{"cuda", p.cuda, LINNET_CUDA_AUTO},
                {"cuda_graph", p.cuda_graph, LINNET_SWITCH_OFF},
                {"cuda_zero_copy", p.cuda_zero_copy, LINNET_SWITCH_OFF},
                {"cuda_gemm", p.cuda_gemm, LINNET_GEMM_FAST}};
  for (const auto& f : fields)
    if (f.value > f.max) return fail(err, LINNET_BAD_PROFILE, "profile: ", f.name, " is ", f.value, ", at most ", f.max);
  if (p.cuda_block_bytes && p.cuda_block_bytes < kLeastBlock)
    return fail(err, LINNET_BAD_PROFILE, "profile: cuda_block_bytes is ", p.cuda_block_bytes, ", at least ", kLeastBlock);
  return LINNET_OK;
}

void backend_describe(const Backend& backend, linnet_model_desc* out) { out->device = backend.name; }

Status backend_detect(linnet_cuda_device* out, Error* err) {
#if LINNET_HAVE_CUDA
  return cuda_detect(out, err);
#else
  *out = {};
  return fail(err, LINNET_UNSUPPORTED, "this linnet is built without CUDA");
#endif
}

Status footprint_fits(const Footprint& f, const linnet_session_params& p, Error* err) {
  if (!f.host.ok() || !f.pinned.ok())
    return fail(err, LINNET_BAD_ARG, "session: n_context = ", p.n_context, " needs more bytes than this machine can address");
  if (!f.own.ok())
    return fail(err, LINNET_TOO_SMALL, "session: n_context = ", p.n_context, " and n_chunk = ", p.n_chunk,
                " need a piece of device memory larger than the blocks of ", f.blocks.limit, " bytes, or more than ",
                uint32_t{Blocks::kMax}, " blocks");
  return LINNET_OK;
}

Status footprint_row(const Arena& host, const Arena& own, const Arena* pinned, uint32_t i, const char** purpose, size_t* bytes,
                     Error* err) {
  static constexpr const char* kOwn[][2] = {{"weights", "device weights"},         {"kv", "device kv"},         {"states", "device states"},
                                            {"activations", "device activations"}, {"logits", "device logits"}, {"queue", "device queue"}};
  uint32_t before = 0;
  for (const Arena* a : {&host, &own, pinned}) {
    if (!a) continue;
    if (i - before < a->n_rows()) {
      *purpose = a->row(i - before).purpose;
      *bytes = a->row(i - before).bytes;
      if (a == pinned) *purpose = "device pinned";
      for (const auto& names : kOwn)
        if (a == &own && std::strcmp(*purpose, names[0]) == 0) *purpose = names[1];
      return LINNET_OK;
    }
    before += a->n_rows();
  }
  return fail(err, LINNET_BAD_ARG, "memory table: row ", i, " of ", before);
}

}  // namespace linnet
