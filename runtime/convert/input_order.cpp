// Act-order: GPTQ quantises the channels that matter most first, and those it took together share scales, wherever they stand. Sorted by
// their groups they lie together, as packed formats want them; rows come in the same order then.
#include <algorithm>

#include "source.h"

namespace linnet::convert {
namespace {

struct Input {
  InputOrder bit;
  Role order;
  std::vector<Role> readers;
};
const Input kInputs[] = {{kOrderQkv, kAttnInOrder, {kAttnQ, kAttnK, kAttnV, kAttnGate}},
                         {kOrderAttnOut, kAttnOutOrder, {kAttnOut}},
                         {kOrderGateUp, kFfnInOrder, {kFfnGate, kFfnUp}}};

bool keeps_codes(const SourceTensor& t, const Options& asked) { return t.exact_rows && pack_exact(packed_format(t, asked), t.exact, t.k); }

// Codes are in the order already, or have one scale for all inputs, or are not kept.
void take_order(SourceTensor* t, const InputsInOrder& order) {
  choose_inputs(t, order);
  if (t->exact_rows && !t->order)
    t->exact_rows = [order, rows = t->exact_rows, k = t->k](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
      LINNET_TRY(rows(first, count, out, err));
      std::vector<int8_t> row(k);
      for (uint32_t i = 0; i < count; ++i) {
        int8_t* const codes = out.codes + size_t{i} * k;
        std::copy(codes, codes + k, row.begin());
        for (uint32_t j = 0; j < k; ++j) codes[j] = row[(*order)[j]];
      }
      return LINNET_OK;
    };
  t->order = nullptr;
}

Status refused(const SourceTensor& t, const std::string& why, Error* err) {
  return fail(err, LINNET_UNSUPPORTED, "tensor '", t.source_name, "' is in act-order (desc_act), ", why,
              ": ask for --weights i8g128 or another to have its values packed anew");
}

// All that read one row take the order that some of them have. *order: that one.
Status order_readers(const std::vector<SourceTensor*>& readers, const Options& asked, InputsInOrder* order, Error* err) {
  const SourceTensor* like = nullptr;
  for (const SourceTensor* t : readers) {
    if (!t->order) continue;
    if (like && *t->order != *like->order)
      return refused(*t, "but not in that of '" + like->source_name + "', which reads the same rows", err);
    if (!like) like = t;
  }
  if (!like) return LINNET_OK;
  *order = like->order;
  for (SourceTensor* t : readers) {
    if (!t->order && t->exact_rows && t->exact.group < t->k) {
      if (keeps_codes(*t, asked) && asked.weights == LINNET_FORMAT_DEFAULT)
        return refused(*like, "but '" + t->source_name + "', which reads the same rows, is not", err);
      t->exact_rows = nullptr;
    }
    take_order(t, *order);
  }
  return LINNET_OK;
}

}  // namespace

Status order_inputs(Source* source, const Options& asked, Error* err) {
  bool any = false;
  for (SourceTensor& t : source->tensors) {
    if (!t.order) continue;
    const bool kept = !asked.plain && packed_format(t, asked) == t.own && keeps_codes(t, asked);
    if (!kept) t.exact_rows = nullptr, t.order = nullptr;
    any |= kept;
  }
  if (!any) return LINNET_OK;
  source->adapters = false;
  ModelSpec& spec = source->spec;
  std::vector<std::vector<SourceTensor*>> by_layer(spec.n_layers);
  for (SourceTensor& t : source->tensors)
    if (role_row(t.role).per_layer() && t.layer < spec.n_layers) by_layer[t.layer].push_back(&t);
  std::vector<LayerSpec> layers;
  std::vector<SourceTensor> orders;
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    layers.push_back(layer_spec(spec, i));
    const auto of = [&](std::initializer_list<Role> roles) {
      std::vector<SourceTensor*> found;
      for (SourceTensor* t : by_layer[i])
        if (std::find(roles.begin(), roles.end(), t->role) != roles.end()) found.push_back(t);
      return found;
    };
    for (SourceTensor* down : of({kFfnDown})) {
      if (!down->order) continue;
      for (SourceTensor* t : of({kFfnGate, kFfnUp, kFfnGateBias, kFfnUpBias, kFfnInnerNorm}))
        choose_rows(t, t->n, [order = down->order](uint32_t row) { return (*order)[row]; });
      take_order(down, down->order);
    }
    for (const Input& input : kInputs) {
      std::vector<SourceTensor*> readers;
      for (const Role role : input.readers)
        for (SourceTensor* t : of({role})) readers.push_back(t);
      InputsInOrder order;
      LINNET_TRY(order_readers(readers, asked, &order, err));
      if (!order) continue;
      layers.back().orders |= input.bit;
      orders.push_back(computed_tensor(input.order, i, {order->begin(), order->end()}));
    }
  }
  for (const SourceTensor& t : source->tensors)
    if (t.order) return refused(t, "which linnet has for attention and feed-forward steps alone", err);
  set_layers(source, layers);
  for (SourceTensor& t : orders) source->tensors.push_back(std::move(t));
  return LINNET_OK;
}

}  // namespace linnet::convert
