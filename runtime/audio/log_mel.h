// Log-mel spectra of sound, as Whisper's encoder reads them: 25 ms under a Hann window every 10 ms, power in bands of the mel scale, log10.
// In double with our own logarithm and trigonometry, so that every machine has the same ones.
#pragma once
#include "../../platform/arena.h"
#include "../../platform/pieces.h"
#include "audio_spec.h"

namespace linnet {

struct LogMel {
  uint32_t n_mels;
  double *cos, *sin;      // (kFftSize) of 2 pi i / kFftSize
  double* window;         // (kFftSize)
  float* filters;         // (n_mels, kFftBins)
  uint32_t *first, *end;  // (n_mels) the bins that a filter has
  double* room;           // (n_threads, mel_room())
};
void mel_layout(Arena& arena, uint32_t n_mels, uint32_t n_threads, LogMel* out);
// Behind it, `filters` having been filled in.
void mel_start(LogMel* mel);
// A spectrum for every kHop of n samples, which are followed by silence, n_frames in all: to (n_frames, n_mels), not yet scaled by the
// loudest. Pieces of the team's work; sync before reading.
void mel_frames(const Member& w, const LogMel& mel, const float* pcm, size_t n, size_t n_window, uint32_t n_frames, float* to);
// Scales them: what is more than 80 dB below the loudest is cut off there.
void mel_scale(const Member& w, const LogMel& mel, uint32_t n_frames, float* to, float loudest);
float mel_loudest(const float* mel, size_t n);

}  // namespace linnet
