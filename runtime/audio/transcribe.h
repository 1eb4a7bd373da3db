// Texts of what was heard: greedy and by beams, with the rules and checks that Whisper was published with.
#pragma once
#include "audio_session.h"

namespace linnet {

Status transcribe(linnet_audio_session& s, const float* pcm, size_t n, const linnet_transcribe_params& params, linnet_segment_fn fn,
                  void* user, linnet_transcribed* out, Error* err);
// How much smaller a text gets where its repetitions are left out, as DEFLATE packs it (zlib's headers included). seen: 4096.
float packed_ratio(const char* text, size_t n, uint16_t* seen);

}  // namespace linnet
