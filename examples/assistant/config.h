// assistant.yaml, read strictly: what is unknown, of another type or said twice is refused with file, line and column.
#pragma once
#include <string>

#include "conversation.h"
#include "pipeline.h"
#include "recognizer.h"
#include "synthesizer.h"
#include "tools.h"

namespace assistant {

struct Config {
  ConversationConfig conversation;
  ToolsConfig tools;
  PipelineConfig pipeline;
  RecognizerConfig recognizer;
  SynthesizerConfig synthesizer;
  std::string microphone = "default", speaker = "default";  // ALSA devices
};

// Files that the YAML names lie beside it unless they begin with "/".
bool read_config(const std::string& path, Config* config, std::string* why);

}  // namespace assistant
