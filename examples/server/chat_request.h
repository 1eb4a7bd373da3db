// What a request with messages asks for, whatever API it came by: a conversation as templates take it, tools, the form of the answer.
#pragma once

#include <memory>
#include <string>

#include "generation.h"

namespace server {

struct ChatRequest {
  json messages = json::array();  // as OpenAI has them: role, content (text or parts), tool_calls, tool_call_id, reasoning_content
  json tools = json::array();     // {"type":"function","function":{...}}
  enum class Choice { kAuto, kNone, kRequired, kNamed } choice = Choice::kAuto;
  std::string tool;  // of kNamed
  bool parallel = true;
  Model::GrammarText format;        // of the answer; an empty text: any
  json variables = json::object();  // of the template
  enum class Reasoning { kDefault, kOn, kOff } reasoning = Reasoning::kDefault;
  std::string effort;  // "" = not said

  // The prompt, the parser and the grammar of n answers; the jobs get them. False: why, with the place in the messages.
  bool render(Model* model, std::string* text, size_t* n_tokens, Refusal* why);  // the prompt's text alone, and how long it is
  // states: the next turn can go on from where the messages end alone (Scheduler::states()), so that is kept.
  bool prepare(Model* model, bool states, const std::vector<std::shared_ptr<Generation>>& jobs, Refusal* why);

 private:
  bool conversation(const Model& model, json* out, std::string* prefix, Refusal* why) const;
  bool plain_conversation(json* out, std::string* prefix, Refusal* why) const;
};

// {"type":"json_schema",...} of OpenAI's response_format (or Responses' text.format), {"grammar":...} and the like of llama.cpp's.
bool read_format(Fields* fields, Model::GrammarText* out);
bool read_response_format(const json& format, Model::GrammarText* out, Refusal* why, const std::string& name);
// Text of a content that may be a string, null or parts of type text (or of the types that are named); images and the like are refused.
bool read_content(const json& content, std::string* out, Refusal* why, const std::string& place);

}  // namespace server
